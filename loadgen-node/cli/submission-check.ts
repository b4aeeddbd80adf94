import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { choice } from '../../shared/config/setting.ts';
import { DEFAULT_ROUND } from '../../shared/rules/rounds/rounds.ts';
import { checkTree } from '../submission/check/check-tree.ts';
import { writeCheckerLogs } from '../submission/check/checker-log.ts';
import { checkReportSchema, writeCheckReport } from '../submission/check/report/check-report.ts';
import { treeReportScreen, treeReportText } from '../submission/check/report/check-text.ts';
import { ruleReport } from '../submission/check/report/rule-table.ts';
import { NOT_KNOWN, SUBMISSION_ROUNDS } from '../submission/rules/submission-rounds.ts';
import { CHECKER_LOG } from '../submission/tree/tree-layout.ts';
import { verb } from './verb.ts';

interface CheckFlags {
  readonly json?: string | true;
  readonly originals?: string;
  readonly rules?: true;
  readonly strict?: boolean;
  readonly log?: boolean;
  readonly verbose?: boolean;
}

/** `longhaul submission check`. */
export const checkVerb = verb({
  takes: { '[tree]': 'root of the tree: the folder with closed, network, open' },
  json: 'own',
  settings: {
    round: choice(
      SUBMISSION_ROUNDS,
      'round whose rules hold (default: the one whose seeds the logs have)',
      { hints: NOT_KNOWN },
    ),
  },
  flags: (command) =>
    command
      .option(
        '--json [file]',
        'write the report for machines here as well; without a file, print it in place of the text',
      )
      .option(
        '--originals <folder>',
        'folder of the accuracy logs before truncation, with the paths of the tree: the check computes their hashes',
      )
      .option(
        '--log',
        `write the text of --verbose into the tree as well: results/${CHECKER_LOG} of each submitter`,
      )
      .option('--verbose', 'every place, rule and source, and all results')
      .option('--strict', 'warnings and marks (a stand-in, a LoadGen not approved) are errors')
      .option(
        '--rules',
        `instead of checking a tree, list the rules of --round (default: ${DEFAULT_ROUND}) with the source of each`,
      ),
  example: `
Examples:
  longhaul submission check tree
  longhaul submission check tree --round v5.0 --json report.json
  longhaul submission check tree --log                     (after you changed a text by hand)
  longhaul submission check tree --originals originals     (of "longhaul submission truncate")
  longhaul submission check --rules --round v6.1           (no tree: what the check asks for)

Exit codes: 0 no error, 3 errors (--strict: or warnings, or marks), 2 no tree or wrong usage,
6 a report cannot be written.`,
  action: async ({ values: { round }, command }, tree: string | undefined) => {
    const flags = command.opts<CheckFlags>();
    if ((tree === undefined) !== (flags.rules === true)) {
      throw configInvalid('name the root of one tree, or give --rules in its place');
    }
    if (tree === undefined) return ruleReport(round ?? DEFAULT_ROUND, flags.json);
    const { originals, strict: isStrict } = flags;
    const report = await checkTree(tree, { round, originals, isStrict });
    if (typeof flags.json === 'string') writeCheckReport(flags.json, report);
    if (flags.log === true) writeCheckerLogs(tree, report, treeReportText(report));
    const text = flags.verbose === true ? treeReportText(report) : treeReportScreen(report);
    const { error, mark } = report.counts;
    const isGood = error === 0 && (isStrict !== true || mark === 0);
    return { text, json: checkReportSchema.parse(report), isGood };
  },
});
