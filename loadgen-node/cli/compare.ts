import { parseCondition } from '../observe/figures/condition.ts';
import {
  compareFolders,
  comparisonDocument,
  hasFailed,
  writeComparison,
} from '../present/compare/compare-folders.ts';
import { CONFIDENCE } from '../present/compare/compare-runs.ts';
import { type FailCondition, printComparison } from '../present/compare/print-comparison.ts';
import { compareSearches } from '../search/results/compare-searches.ts';
import { verb } from './verb.ts';

interface CompareOptions {
  readonly failIf?: readonly FailCondition[];
  readonly failIfSure?: readonly FailCondition[];
  readonly html?: string;
  readonly force?: boolean;
  readonly allowInvalid?: boolean;
  readonly by?: string;
}

/** `longhaul compare`: figures of runs side by side, with confidence intervals. */
export const compareVerb = verb({
  takes: { '<run-dirs...>': 'folders of runs, or of two peaks or curves; the first is the base' },
  json: 'first',
  flags: (command) =>
    command
      .option(
        '--fail-if <condition>',
        "fail if this holds for the measured figure: 'p99 > +5%', 'errors > 0'; repeatable",
        conditionReader('--fail-if', false),
      )
      .option(
        '--fail-if-sure <condition>',
        'fail only if this holds over the whole interval; repeatable',
        conditionReader('--fail-if-sure', true),
      )
      .option('--html <file>', 'write the comparison as a page, with the distributions of latency')
      .option('--by <label>', 'the main figures by this label of the runs, in order of time')
      .option('--allow-invalid', 'compare runs that are INVALID, too')
      .option('--force', 'compare runs of different benchmarks or models'),
  example: `
Examples:
  longhaul compare results/before results/after
  longhaul compare results/before results/after --html after.html --fail-if 'p99 > +5%'
  longhaul compare results/before results/after --fail-if-sure 'completed_qps < -2%'
  longhaul compare results/nightly-* --by commit --html trend.html

  longhaul compare results/peak-1 results/peak-2

It says first what makes the comparison mean less: another rate, machine or link, a SUT not alone.
Runs of another scenario or bound are refused, and so are INVALID ones without --allow-invalid.
The first run is the base. A condition that holds for any of the others fails the comparison:
--fail-if by the figures as they were seen, so that no regression slips through as noise;
--fail-if-sure only where the whole ${CONFIDENCE * 100} % interval is beyond it.

Exit codes: 0 compared, and no condition holds; 3 a condition holds, a run is INVALID, or figures do
not follow from the records, or these are cut; 2 a folder without records, runs that measured
different things, or a condition that cannot be read.`,
  action: async ({ command }, folders: string[]) => {
    const options = command.opts<CompareOptions>();
    const { failIf = [], failIfSure = [], html, force = false, allowInvalid = false } = options;
    const { by = null } = options;
    const searched = compareSearches(folders, Object.keys(options));
    if (searched !== null) return searched;
    const conditions = [...failIf, ...failIfSure];
    const judging = { conditions, isForced: force, allowsInvalid: allowInvalid, by };
    const result = await compareFolders(folders, judging);
    if (html !== undefined) writeComparison(html, result);
    const json = comparisonDocument(result);
    return { text: printComparison(result), json, isGood: !hasFailed(result) };
  },
});

function conditionReader(flag: string, isSure: boolean) {
  return (text: string, before: readonly FailCondition[] = []): FailCondition[] => [
    ...before,
    { condition: parseCondition(text, flag), isSure },
  ];
}
