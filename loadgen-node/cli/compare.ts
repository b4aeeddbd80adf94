import type { Command } from 'commander';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import { parseCondition } from '../observe/thresholds/condition.ts';
import {
  compareFolders,
  comparisonDocument,
  hasFailed,
  writeComparison,
} from '../present/compare/compare-folders.ts';
import { CONFIDENCE } from '../present/compare/compare-runs.ts';
import { type FailCondition, printComparison } from '../present/compare/print-comparison.ts';

const EXAMPLE = `
Examples:
  longhaul compare results/before results/after
  longhaul compare results/before results/after --html after.html --fail-if 'p99 > +5%' --fail-if 'errors > 0'
  longhaul compare results/before results/after --fail-if-sure 'completed_qps < -2%'

The first run is the base. A condition that holds for any of the others fails the comparison: --fail-if by the figures as they
were seen, so that no regression slips through as noise; --fail-if-sure only where the whole ${CONFIDENCE * 100} % interval is beyond it.

With a condition a run that is INVALID fails the comparison, too: its figures are no result (--allow-invalid lets it).

Exit codes: 0 compared, and no condition holds; 3 a condition holds, a run is INVALID where there are conditions, or figures do
not follow from the records, or these are cut; 2 a folder without records, runs that measured different
things, or a condition that cannot be read.`;

interface CompareOptions {
  readonly failIf?: readonly FailCondition[];
  readonly failIfSure?: readonly FailCondition[];
  readonly html?: string;
  readonly force?: boolean;
  readonly allowInvalid?: boolean;
}

/** `longhaul compare`: figures of runs side by side, with confidence intervals. */
export function compareCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('compare', 'compare runs, with confidence intervals');
  return addJson(command)
    .argument('<run-dirs...>', 'output folders of two runs or more; the first is the base')
    .option(
      '--fail-if <condition>',
      "fail where it holds for the figure seen: 'p99 > +5%', 'errors > 0', 'p99 > 15ms'; repeatable",
      conditionReader('--fail-if', false),
    )
    .option(
      '--fail-if-sure <condition>',
      'fail only where it holds over the whole interval; repeatable',
      conditionReader('--fail-if-sure', true),
    )
    .option('--html <file>', 'write the comparison as a page, with the distributions of latency')
    .option('--allow-invalid', 'judge conditions by figures of runs that are INVALID, too')
    .option('--force', 'compare runs of different benchmarks or models')
    .addHelpText('after', EXAMPLE)
    .action(async (folders: string[]) => {
      const options = command.opts<CompareOptions>();
      const { failIf = [], failIfSure = [], html, force, allowInvalid } = options;
      const result = await compareFolders(folders, {
        conditions: [...failIf, ...failIfSure],
        isForced: force === true,
        allowsInvalid: allowInvalid === true,
      });
      if (html !== undefined) writeComparison(html, result);
      writeResult(command, { text: printComparison(result), json: comparisonDocument(result) });
      setExitCode(hasFailed(result) ? EXIT.invalid : EXIT.valid);
    });
}

function conditionReader(
  flag: string,
  isSure: boolean,
): (text: string, before?: readonly FailCondition[]) => FailCondition[] {
  return (text, before = []) => [...before, { condition: parseCondition(text, flag), isSure }];
}
