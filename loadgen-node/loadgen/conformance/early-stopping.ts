import { z } from 'zod';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { readJsonFile } from '../../../shared/base/files/read-file.ts';
import { grouped } from '../../../shared/base/text.ts';
import { allowedOver, minPassingQueries } from '../results/early-stopping.ts';

/** Most queries above the bound that are worked out: more is a slip of the finger. */
const OVER_MAX = 1e9;

/** A question to early stopping. */
export interface EarlyStoppingQuestion {
  /** Queries above the bound. */
  readonly over: number;
  /** Share that has to meet the bound, 0 to 1. */
  readonly percentile: number;
  /** Tolerance that is taken off the percentile. LoadGen: 0. */
  readonly tolerance: number;
  /** LoadGen: 0.99. */
  readonly confidence: number;
}

/**
 * Fewest queries within the bound that outweigh those above it.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function passingQueries(question: EarlyStoppingQuestion): number {
  const { over, percentile, tolerance, confidence } = question;
  refuseUnless(isCount(over), `over is ${over}: it must be a whole number from 0 to ${OVER_MAX}`);
  refuseUnless(
    percentile > 0 && percentile < 1,
    `percentile is ${percentile}: it must be a share above 0 and below 1, for example 0.99`,
  );
  refuseUnless(
    tolerance >= 0 && tolerance < percentile,
    `tolerance is ${tolerance}: it must be 0 or more and below the percentile`,
  );
  refuseUnless(
    confidence > 0 && confidence < 1,
    `confidence is ${confidence}: it must be above 0 and below 1, for example 0.99`,
  );
  return minPassingQueries(over, percentile - tolerance, confidence);
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= OVER_MAX;
}

function refuseUnless(isGood: boolean, text: string): void {
  if (!isGood) throw configInvalid(text);
}

/**
 * Limits and needs of a run of `queries` queries.
 * @returns `leastQueries`: the fewest of a run without any above the bound. `allowedOver`: queries above the bound that
 *   a run of this size may have; -1: it is too small even without any. `neededQueries`: those that a run with `over` above
 *   the bound needs in all.
 */
export function adviceFor(queries: number, question: EarlyStoppingQuestion) {
  refuseUnless(isCount(queries), `queries is ${queries}: it must be a whole number of 0 or more`);
  const needed = (over: number): number => passingQueries({ ...question, over }) + over;
  const leastQueries = needed(0);
  const { percentile, tolerance, confidence } = question;
  return {
    leastQueries,
    allowedOver: allowedOver(queries, percentile - tolerance, confidence),
    neededQueries: needed(question.over),
  };
}

/** The advice in plain words, ending with a newline. */
export function describeAdvice(queries: number, question: EarlyStoppingQuestion): string {
  const { leastQueries, allowedOver: mostOver, neededQueries } = adviceFor(queries, question);
  const percent = Number((question.percentile * 100).toFixed(6));
  const lines = [
    mostOver < 0
      ? `${grouped(queries)} queries are too few for early stopping at the ${percent}th percentile: ` +
        `it takes ${grouped(leastQueries)} even if all are within the bound`
      : `of ${grouped(queries)} queries at the ${percent}th percentile, ` +
        `${grouped(mostOver)} may be above the latency bound`,
  ];
  const missing = neededQueries - queries;
  const seen = `with ${grouped(question.over)} above the bound the run`;
  lines.push(
    missing <= 0
      ? `${seen} is long enough: ${grouped(neededQueries)} queries would do`
      : `${seen} needs ${grouped(missing)} more queries, all within the bound ` +
          `(${grouped(neededQueries)} in all)`,
  );
  return `${lines.join('\n')}\n`;
}

/** The question in the form of the flags. */
export interface AskedEarlyStopping extends Omit<EarlyStoppingQuestion, 'percentile'> {
  readonly percentile?: number;
  /** Queries of the run. */
  readonly queries?: number;
  /** True: the answer is JSON. */
  readonly json?: true;
}

/**
 * The answer to one question, ending with a newline.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function answerOne(asked: AskedEarlyStopping): string {
  const { over, percentile, tolerance, confidence, queries, json } = asked;
  if (percentile === undefined) {
    throw configInvalid('--percentile <share> (or --input <file>) is needed');
  }
  const question: EarlyStoppingQuestion = { over, percentile, tolerance, confidence };
  const h = passingQueries(question);
  if (json === true) {
    if (queries === undefined) return `${JSON.stringify({ h })}\n`;
    const { allowedOver: mostOver, neededQueries } = adviceFor(queries, question);
    const advice = {
      h,
      queries,
      allowed_over: mostOver,
      needed_queries: neededQueries,
      missing_queries: Math.max(0, neededQueries - queries),
    };
    return `${JSON.stringify(advice)}\n`;
  }
  if (queries !== undefined) return describeAdvice(queries, question);
  return `${over} queries above the bound need ${h} within it: ${h + over} queries in all\n`;
}

const rowsFile = z.object(
  {
    rows: z.array(
      z.array(z.number('must be a number')).min(2, 'must be [over, percentile, ...]'),
      'must be a list of [over, percentile, tolerance, confidence]',
    ),
  },
  'must be an object with rows',
);

/**
 * A file of questions with the answer as the fifth value of each row, as in the golden file.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID`
 */
export function answerRows(path: string): string {
  const { rows } = readJsonFile(path, rowsFile);
  const answered = rows.map(([over = 0, percentile = 0, tolerance = 0, confidence = 0.99]) => [
    over,
    percentile,
    tolerance,
    confidence,
    passingQueries({ over, percentile, tolerance, confidence }),
  ]);
  return `${JSON.stringify({ columns: ['t', 'p', 'd', 'c', 'h'], rows: answered })}\n`;
}
