import {
  type AccuracyLogEntry,
  readAccuracyLog,
} from '../../../loadgen/logs/read/accuracy-log-reader.ts';
import type { AccuracyEntry, AccuracyReport } from '../../../samples/data-set/data-set.ts';

/** Scores responses as the benchmark's accuracy script does. */
export interface ResponseScorer {
  /** @throws MlperfError when the data set is not there, or a response is no answer to it. */
  score(entries: readonly AccuracyEntry[]): Promise<AccuracyReport>;
  /** What has to stand beside a score of this data set (a stand-in, ...); each one line. */
  readonly marks: () => readonly string[];
}

/**
 * Reads all responses that a test logged, in the order of the log.
 * @throws MlperfError `ERR_OUTPUT` when the log cannot be read.
 */
export async function loggedResponses(testLog: string): Promise<AccuracyLogEntry[]> {
  const logged: AccuracyLogEntry[] = [];
  for await (const entry of readAccuracyLog(testLog)) logged.push(entry);
  return logged;
}

/** Of several responses to one sample the first in the log: the official scripts score no other. */
export function firstOfEach(logged: readonly AccuracyLogEntry[]): AccuracyEntry[] {
  const first = new Map<number, AccuracyEntry>();
  for (const entry of logged) {
    if (!first.has(entry.sampleIndex)) first.set(entry.sampleIndex, entry);
  }
  return [...first.values()];
}

/**
 * Scores the test's first responses, and the accuracy run's to the same samples: where responses differ because a
 * system is not deterministic, its accuracy has to be the same.
 * Source: TEST01's README, "Non-determinism"; create_accuracy_baseline.sh.
 * @param compliance One response to each sample.
 */
export async function scorePair(
  accuracyLog: string,
  compliance: readonly AccuracyEntry[],
  scorer: ResponseScorer,
) {
  const samples = new Set(compliance.map(({ sampleIndex }) => sampleIndex));
  const baseline = await firstResponses(accuracyLog, samples);
  const [a, b] = [await scorer.score([...baseline.values()]), await scorer.score(compliance)];
  return { baseline: a, compliance: b, deltaPercent: deltaPercent(printed(a), printed(b)) };
}

/** Accuracy of the accuracy run on the test's samples, and of the test's first response to each of them. */
export type AccuracyPair = Awaited<ReturnType<typeof scorePair>>;

/** Line of the benchmark's accuracy script, or the like where it has none. */
export function accuracyLine(report: AccuracyReport): string {
  if (report.scriptLine !== undefined) return report.scriptLine;
  const { metric, correctCount, sampleCount } = report;
  return `${metric}=${printed(report).toFixed(3)}%, good=${correctCount}, total=${sampleCount}`;
}

/**
 * The first response of an accuracy log to each of these samples, as far as it has them.
 * @throws MlperfError `ERR_OUTPUT` when the log cannot be read.
 */
export async function firstResponses(
  path: string,
  of: ReadonlySet<number>,
): Promise<Map<number, AccuracyEntry>> {
  const first = new Map<number, AccuracyEntry>();
  for await (const { sampleIndex, response } of readAccuracyLog(path)) {
    if (first.has(sampleIndex) || !of.has(sampleIndex)) continue;
    first.set(sampleIndex, { sampleIndex, response });
  }
  return first;
}

/** In percent, with the three decimals that the scripts print and the checkers read. */
function printed({ value }: AccuracyReport): number {
  return Number((100 * value).toFixed(3));
}

/** |1 - baseline / compliance| in percent, as the checkers reckon it; Infinity where one of them is 0. */
export function deltaPercent(baseline: number, compliance: number): number {
  if (baseline === 0 || compliance === 0) return Number.POSITIVE_INFINITY;
  return 100 * Math.abs(1 - baseline / compliance);
}
