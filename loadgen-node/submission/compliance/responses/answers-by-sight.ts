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
 * Standard deviations from which {@link AnswersBySight.deviations} are not chance. Two comparisons,
 * each with a probability of 0.05 %: an honest system with varying answers fails at most one test
 * in 1,000.
 */
export const DEVIATIONS_MAX = 3.29;

/** Paths of the accuracy logs of the accuracy run and of a test. */
export interface LogPair {
  readonly accuracyLog: string;
  readonly testLog: string;
}

/** Correctness of the responses to one sample. */
interface Sights {
  readonly accuracyRun: boolean;
  /** In issue order. */
  readonly logged: boolean[];
}

/**
 * Scores every logged response of a test. The official fallback only scores the first one of each
 * sample, and so passes a system that answers correctly once. For metrics that are a share of
 * correct samples.
 * @throws MlperfError `ERR_OUTPUT` if a log cannot be read.
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

/**
 * Correctness of a test's logged responses: overall, and by how often the sample occurred before.
 */
export interface AnswersBySight {
  /** All logged responses to samples that the accuracy run also has. */
  readonly logged: Proportion;
  /** The accuracy run's responses, each counted as often as the test logged its sample. */
  readonly accuracyRun: Proportion;
  /** Difference of the two in percent; see {@link deltaPercent}. */
  readonly deltaPercent: number;
  readonly first: Proportion;
  readonly repeats: Proportion;
  /**
   * The larger of two deviations, in standard deviations: accuracy run's responses correct more
   * often than the test's; or those and the first logged ones correct more often than the repeats.
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
    if (expected === undefined) continue; // The coverage check reports it.
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

/** True if a response is correct; a malformed one is wrong. */
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

/** Scores responses like the benchmark's accuracy script. */
export interface ResponseScorer {
  /** @throws MlperfError if the data set is missing, or if a response does not fit it. */
  score(entries: AccuracyEntries): Promise<AccuracyReport>;
  /** Notes required beside a score of this data set (such as a stand-in); each is one line. */
  readonly marks: () => readonly string[];
}

/**
 * Reads all responses logged by a test, in log order.
 * @throws MlperfError `ERR_OUTPUT` if the log cannot be read.
 */
export async function loggedResponses(testLog: string): Promise<AccuracyLogEntry[]> {
  const logged: AccuracyLogEntry[] = [];
  for await (const entry of readAccuracyLog(testLog)) logged.push(entry);
  return logged;
}

/**
 * Scores the responses logged by a test, and the accuracy run's to the same samples: if responses
 * differ because a system is not deterministic, its accuracy must be equal. Source: TEST01's
 * README, "Non-determinism"; create_accuracy_baseline.sh.
 * @param counts Number of entries in the test's log by sample index.
 * @param which `first`: the first response to each sample, as scored by the official scripts.
 *   `last`: the last response of samples logged more than once.
 * @throws MlperfError `ERR_OUTPUT` if a log cannot be read.
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

/** The nth entry of each sample in a log; none for 0. */
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

/** Accuracy of the accuracy run on the test's samples, and of the test's first response to each. */
export interface AccuracyPair {
  readonly baseline: AccuracyReport;
  readonly compliance: AccuracyReport;
  /** By metric, the benchmark's own first; NaN if a log has too few responses for a metric. */
  readonly deltaPercents: ReadonlyMap<string, number>;
}

/** Line of the benchmark's accuracy script, or a similar one if it has none. */
export function accuracyLine(report: AccuracyReport): string {
  if (report.scriptLine !== undefined) return report.scriptLine;
  const { metric, correctCount, sampleCount } = report;
  const good = correctCount === undefined ? '' : `good=${correctCount}, `;
  return `${metric}=${printed(report).toFixed(3)}%, ${good}total=${sampleCount}`;
}

/**
 * The first response of an accuracy log to each of these samples that it has.
 * @throws MlperfError `ERR_OUTPUT` if the log cannot be read.
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
 * |1 - baseline / compliance| in percent, as computed by the checkers; Infinity if either is 0.
 */
function deltaPercent(baseline: number, compliance: number): number {
  if (baseline === 0 || compliance === 0) return Number.POSITIVE_INFINITY;
  return 100 * Math.abs(1 - baseline / compliance);
}
