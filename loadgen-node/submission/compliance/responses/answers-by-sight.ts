import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  type AccuracyLogEntry,
  readAccuracyLog,
} from '../../../loadgen/logs/read/accuracy-log-reader.ts';
import type {
  AccuracyEntries,
  AccuracyEntry,
  AccuracyReport,
} from '../../../samples/data-set/data-set.ts';
import { type Proportion, rightLessOften, shareOf, type TwoGroups } from './proportions.ts';

/**
 * Standard deviations from which {@link AnswersBySight.deviations} are no chance. Two comparisons are made, each with a
 * chance of 0.05 %: an honest system whose answers vary fails at most one test of 1,000.
 */
export const DEVIATIONS_MAX = 3.29;

/** Paths of the accuracy logs of the accuracy run and of a test. */
export interface LogPair {
  readonly accuracyLog: string;
  readonly testLog: string;
}

/** Whether the responses to one sample are right. */
interface Sights {
  readonly accuracyRun: boolean;
  /** In the order in which they were issued. */
  readonly logged: boolean[];
}

/**
 * Scores every logged response of a test by itself. The official fallback scores the first one of each sample alone, and
 * so passes a system that answers properly once.
 * For a metric that is a share of right samples.
 * @throws MlperfError `ERR_OUTPUT` when a log cannot be read.
 */
export async function answersBySight(
  { accuracyLog, testLog }: LogPair,
  scorer: ResponseScorer,
): Promise<AnswersBySight> {
  const samples = await scoreSamples(accuracyLog, await loggedResponses(testLog), scorer);
  const all = countRight(samples, ({ logged: own }) => own);
  const counterpart = countRight(samples, (one) => one.logged.map(() => one.accuracyRun));
  return {
    logged: all,
    accuracyRun: counterpart,
    deltaPercent: deltaPercent(percent(counterpart), percent(all)),
    first: countRight(samples, ({ logged: own }) => own.slice(0, 1)),
    repeats: countRight(samples, ({ logged: own }) => own.slice(1)),
    deviations: Math.max(
      rightLessOften(samples.map((one) => twoGroups(one, [one.accuracyRun]))),
      rightLessOften(
        samples.map((one) => twoGroups(one, [one.accuracyRun, ...one.logged.slice(0, 1)])),
      ),
    ),
  };
}

/** How right the logged responses of a test are: all of them, and by how often the sample was seen before. */
export interface AnswersBySight {
  /** All logged responses whose sample the accuracy run has, too. */
  readonly logged: Proportion;
  /** The accuracy run's responses, each as often as the test logged its sample. */
  readonly accuracyRun: Proportion;
  /** As far as the two are apart, in percent; see {@link deltaPercent}. */
  readonly deltaPercent: number;
  readonly first: Proportion;
  readonly repeats: Proportion;
  /**
   * Standard deviations by which the accuracy run's responses are right more often than the test's, or by which those
   * and the first logged ones are right more often than the repeats, whichever is more.
   */
  readonly deviations: number;
}

async function scoreSamples(
  accuracyLog: string,
  logged: readonly AccuracyLogEntry[],
  scorer: ResponseScorer,
): Promise<Sights[]> {
  const wanted = new Set(logged.map(({ sampleIndex }) => sampleIndex));
  const reference = await firstResponses(accuracyLog, wanted);
  const samples = new Map<number, Sights>();
  for (const entry of logged.toSorted((a, b) => a.seqId - b.seqId)) {
    const { sampleIndex, response } = entry;
    const expected = reference.get(sampleIndex);
    if (expected === undefined) continue; // The check of the coverage tells.
    const sample = samples.get(sampleIndex) ?? {
      accuracyRun: await isRight(expected, scorer),
      logged: [],
    };
    samples.set(sampleIndex, sample);
    const isSame = Buffer.compare(expected.response, response) === 0;
    sample.logged.push(isSame ? sample.accuracyRun : await isRight(entry, scorer));
  }
  return [...samples.values()];
}

/** A response that is no answer to the benchmark is a wrong one. */
async function isRight(entry: AccuracyEntry, scorer: ResponseScorer): Promise<boolean> {
  try {
    return ((await scorer.score([entry])).correctCount ?? 0) > 0;
  } catch (error) {
    if (error instanceof MlperfError && error.code === 'ERR_DATA_SET') return false;
    throw error;
  }
}

function twoGroups({ accuracyRun, logged }: Sights, favoured: readonly boolean[]): TwoGroups {
  return {
    count: logged.length + 1,
    rightCount: rightOf([accuracyRun, ...logged]),
    favouredCount: favoured.length,
    favouredRightCount: rightOf(favoured),
  };
}

function countRight(
  samples: readonly Sights[],
  which: (sample: Sights) => readonly boolean[],
): Proportion {
  const chosen = samples.map(which);
  return {
    correct: chosen.reduce((sum, one) => sum + rightOf(one), 0),
    total: chosen.reduce((sum, one) => sum + one.length, 0),
  };
}

function rightOf(answers: readonly boolean[]): number {
  return answers.filter((isRightOne) => isRightOne).length;
}

function percent(proportion: Proportion): number {
  return proportion.total === 0 ? 0 : Number((100 * shareOf(proportion)).toFixed(3));
}

/** Scores responses as the benchmark's accuracy script does. */
export interface ResponseScorer {
  /** @throws MlperfError when the data set is not there, or a response is no answer to it. */
  score(entries: AccuracyEntries): Promise<AccuracyReport>;
  /** Notes that belong beside a score of this data set (a stand-in, ...); each one line. */
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

/**
 * Scores responses that a test logged, and the accuracy run's to the same samples: where responses differ because a system is
 * not deterministic, its accuracy has to be the same. Source: TEST01's README, "Non-determinism"; create_accuracy_baseline.sh.
 * @param counts Entries of the test's log by sample index.
 * @param which `first`: one response to each sample, the one that the official scripts score. `last`: of the samples that
 *   were logged more than once the last one.
 * @throws MlperfError `ERR_OUTPUT` when a log cannot be read.
 */
export async function scorePair(
  logs: LogPair,
  counts: ReadonlyMap<number, number>,
  scorer: ResponseScorer,
  which: 'first' | 'last' = 'first',
): Promise<AccuracyPair> {
  const place = (index: number): number => (which === 'first' ? 1 : (counts.get(index) ?? 0));
  const isWanted = (index: number): boolean =>
    counts.has(index) && (which === 'first' || place(index) > 1);
  const baseline = await scorer.score(nthOfEach(logs.accuracyLog, (i) => (isWanted(i) ? 1 : 0)));
  const compliance = await scorer.score(
    nthOfEach(logs.testLog, (i) => (isWanted(i) ? place(i) : 0)),
  );
  const further = Object.entries(baseline.more ?? {}).map(([metric, value]) => {
    const other = compliance.more?.[metric] ?? Number.NaN;
    return [metric, deltaPercent(value, other)] as const;
  });
  return {
    baseline,
    compliance,
    deltaPercents: new Map([
      [baseline.metric, deltaPercent(printed(baseline), printed(compliance))],
      ...further,
    ]),
  };
}

/** Of each sample the entry that comes as so many-th in a log; none for 0. */
async function* nthOfEach(
  path: string,
  placeOf: (sampleIndex: number) => number,
): AsyncGenerator<AccuracyEntry> {
  const seen = new Map<number, number>();
  for await (const { sampleIndex, response } of readAccuracyLog(path)) {
    const count = (seen.get(sampleIndex) ?? 0) + 1;
    seen.set(sampleIndex, count);
    if (count === placeOf(sampleIndex)) yield { sampleIndex, response };
  }
}

/**
 * Accuracy of the accuracy run on the test's samples, and of the test's first response to each of
 * them.
 */
export interface AccuracyPair {
  readonly baseline: AccuracyReport;
  readonly compliance: AccuracyReport;
  /** By metric, the benchmark's own first; NaN where a log has too few responses for a metric. */
  readonly deltaPercents: ReadonlyMap<string, number>;
}

/** Line of the benchmark's accuracy script, or the like where it has none. */
export function accuracyLine(report: AccuracyReport): string {
  if (report.scriptLine !== undefined) return report.scriptLine;
  const { metric, correctCount, sampleCount } = report;
  const good = correctCount === undefined ? '' : `good=${correctCount}, `;
  return `${metric}=${printed(report).toFixed(3)}%, ${good}total=${sampleCount}`;
}

/**
 * The first response of an accuracy log to each of these samples, as far as it has them.
 * @throws MlperfError `ERR_OUTPUT` when the log cannot be read.
 */
async function firstResponses(
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

/**
 * |1 - baseline / compliance| in percent, as the checkers reckon it; Infinity where one of them is
 * 0.
 */
function deltaPercent(baseline: number, compliance: number): number {
  if (baseline === 0 || compliance === 0) return Number.POSITIVE_INFINITY;
  return 100 * Math.abs(1 - baseline / compliance);
}
