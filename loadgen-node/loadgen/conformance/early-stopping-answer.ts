import { z } from 'zod';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import {
  adviceFor,
  describeAdvice,
  type EarlyStoppingQuestion,
  passingQueries,
} from './early-stopping.ts';
import { readJsonFile } from './read-json-file.ts';

/** What is asked, as flags say it. */
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
    const text = '--percentile <share> (or --input <file>) is needed';
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  const question: EarlyStoppingQuestion = { over, percentile, tolerance, confidence };
  const h = passingQueries(question);
  if (json === true) {
    const advice = queries === undefined ? {} : { queries, ...inJson(queries, question) };
    return `${JSON.stringify({ h, ...advice })}\n`;
  }
  if (queries !== undefined) return describeAdvice(queries, question);
  return `${over} queries above the bound need ${h} within it: ${h + over} queries in all\n`;
}

function inJson(queries: number, question: EarlyStoppingQuestion): Record<string, number> {
  const advice = adviceFor(queries, question);
  return {
    allowed_over: advice.allowedOver,
    needed_queries: advice.neededQueries,
    missing_queries: Math.max(0, advice.neededQueries - queries),
  };
}

const rowsFile: z.ZodType<{ rows: number[][] }> = z.object(
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
