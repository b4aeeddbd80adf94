import type { Command } from 'commander';
import { createCommand } from '../../shared/config/command-line.ts';
import {
  type AskedEarlyStopping,
  answerOne,
  answerRows,
} from '../loadgen/conformance/early-stopping.ts';
import { numberOption } from './conformance-options.ts';

const EXAMPLE = `
Examples:
  longhaul early-stopping --percentile 0.99 --queries 20000 --over 150
  longhaul early-stopping --over 150 --percentile 0.99 --json
  longhaul early-stopping --input rows.json --json       rows: [over, percentile, tolerance, confidence]`;

interface EarlyStoppingOptions extends AskedEarlyStopping {
  readonly input?: string;
}

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
    process.stdout.write(
      options.input === undefined ? answerOne(options) : answerRows(options.input),
    );
  });
}
