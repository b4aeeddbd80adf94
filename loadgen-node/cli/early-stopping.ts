import type { Command } from 'commander';
import { z } from 'zod';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import {
  adviceFor,
  describeAdvice,
  type EarlyStoppingQuestion,
  passingQueries,
} from '../loadgen/conformance/early-stopping.ts';
import { readJsonFile } from '../loadgen/conformance/read-json-file.ts';
import { numberOption } from './conformance-options.ts';

const EXAMPLE = `
Examples:
  longhaul early-stopping --percentile 0.99 --queries 20000 --over 150
  longhaul early-stopping --over 150 --percentile 0.99 --json
  longhaul early-stopping --input rows.json --json       rows: [over, percentile, tolerance, confidence]`;

interface EarlyStoppingOptions {
  readonly over: number;
  readonly percentile?: number;
  readonly tolerance: number;
  readonly confidence: number;
  readonly queries?: number;
  readonly input?: string;
  readonly json?: true;
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

/** `longhaul early-stopping`: queries that early stopping asks for, in words or as JSON. */
export function earlyStoppingCommand(): Command {
  const command = createCommand('early-stopping', 'how many queries early stopping asks for')
    .option(
      '--percentile <share>',
      'share that has to meet the bound, for example 0.99',
      numberOption,
    )
    .option('--over <n>', 'queries above the bound', numberOption, 0)
    .option('--queries <n>', 'queries of the run', numberOption)
    .option('--tolerance <share>', 'taken off the percentile', numberOption, 0)
    .option('--confidence <share>', 'confidence that is asked for', numberOption, 0.99)
    .option('--input <file>', 'JSON file with rows of questions; answers come as JSON')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLE);
  return command.action(() => {
    const options = command.opts<EarlyStoppingOptions>();
    process.stdout.write(options.input === undefined ? answer(options) : answerRows(options.input));
  });
}

function answer(options: EarlyStoppingOptions): string {
  const { over, percentile, tolerance, confidence, queries, json } = options;
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

/** Rows with the answer as the fifth value, as in the golden file. */
function answerRows(path: string): string {
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
