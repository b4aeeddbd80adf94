import type { AccuracyEntry, AccuracyReport } from '../benchmarks/loadgen-benchmark.ts';
import { readAccuracyLog } from '../logs/accuracy-log-reader.ts';

/** Scores responses as the benchmark's accuracy script does. */
export interface ResponseScorer {
  /** @throws MlperfError when the data set is not there, or a response is no answer to it. */
  score(entries: readonly AccuracyEntry[]): Promise<AccuracyReport>;
  /** What has to stand beside a score of this data set (a stand-in, ...); each one line. */
  readonly marks: () => readonly string[];
}

/** Accuracy of the accuracy run on the test's samples, and of the test itself. */
export interface AccuracyPair {
  readonly baseline: AccuracyReport;
  readonly compliance: AccuracyReport;
  /** |1 - baseline / compliance| in percent; Infinity where one of them is 0. */
  readonly deltaPercent: number;
}

/** Reads the responses of a test; of several to one sample the first, which alone is scored. */
export async function testResponses(testLog: string): Promise<AccuracyEntry[]> {
  return [...(await firstResponses(testLog)).values()];
}

/**
 * Scores the test's responses, and the accuracy run's to the same samples: where responses differ because a
 * system is not deterministic, its accuracy has to be the same.
 * Source: TEST01's README, "Non-determinism"; create_accuracy_baseline.sh.
 */
export async function scorePair(
  accuracyLog: string,
  compliance: readonly AccuracyEntry[],
  scorer: ResponseScorer,
): Promise<AccuracyPair> {
  const samples = new Set(compliance.map(({ sampleIndex }) => sampleIndex));
  const baseline = await firstResponses(accuracyLog, samples);
  const [a, b] = [await scorer.score([...baseline.values()]), await scorer.score(compliance)];
  return { baseline: a, compliance: b, deltaPercent: deltaPercent(printed(a), printed(b)) };
}

/** Line of the benchmark's accuracy script, or the like where it has none. */
export function accuracyLine(report: AccuracyReport): string {
  if (report.scriptLine !== undefined) return report.scriptLine;
  const { metric, correctCount, sampleCount } = report;
  return `${metric}=${printed(report).toFixed(3)}%, good=${correctCount}, total=${sampleCount}`;
}

async function firstResponses(
  path: string,
  of?: ReadonlySet<number>,
): Promise<Map<number, AccuracyEntry>> {
  const first = new Map<number, AccuracyEntry>();
  for await (const { sampleIndex, response } of readAccuracyLog(path)) {
    if (first.has(sampleIndex) || of?.has(sampleIndex) === false) continue;
    first.set(sampleIndex, { sampleIndex, response });
  }
  return first;
}

/** In percent, with the three decimals that the scripts print and the checkers read. */
function printed({ value }: AccuracyReport): number {
  return Number((100 * value).toFixed(3));
}

function deltaPercent(baseline: number, compliance: number): number {
  if (baseline === 0 || compliance === 0) return Number.POSITIVE_INFINITY;
  return 100 * Math.abs(1 - baseline / compliance);
}
