import { addFlags } from '../../shared/config/command-line.ts';
import { optional, share, text } from '../../shared/config/setting.ts';
import { flagsOfRun, RUN_FLAGS } from '../submission/compliance/compliance-settings.ts';
import { customDataSetTest } from '../submission/compliance/custom-data-set/custom-data-set-test.ts';
import { verb } from './verb.ts';

const SETTINGS = {
  run: text('folder', "the submission's performance run", { required: true }),
  accuracyRun: optional(
    text('folder', "the submission's accuracy run (default: --run, if it has both)"),
  ),
  accuracyDropMax: share('percentage points by which the custom data set is harder by itself', {
    fallback: 0,
  }),
  testRun: optional(
    text('folder', 'compare this performance run over the custom data set instead of making one'),
  ),
  testAccuracyRun: optional(
    text('folder', 'its accuracy run (default: --test-run, if it has both)'),
  ),
  output: optional(text('folder', 'folder for the results (default: RUN/compliance)')),
};

const EXAMPLE = `
Examples:
  longhaul compliance custom-data-set --run results/server --accuracy-run results/accuracy --data-seed 77
  longhaul compliance custom-data-set --run results/server --accuracy-run results/accuracy --data-dir other-images
  longhaul compliance custom-data-set --run A --accuracy-run B --test-run C --test-accuracy-run D

Makes an accuracy run and a performance run with the settings of the submission run (longhaul_run.yaml in its folder;
flags win over them; start it where that run was started) over another data set, and compares right answers and speed.

Exit codes: 0 passed, 3 failed, 2 wrong flag or runs that cannot be compared, 4 SUT, 5 data set, 6 this machine.`;

/** `longhaul compliance custom-data-set`: whether a system does as well on samples that it has never seen. */
export const customDataSetVerb = verb({
  settings: SETTINGS,
  flags: (command) => addFlags(command, RUN_FLAGS),
  example: EXAMPLE,
  action: ({ values, command }) =>
    customDataSetTest(values, flagsOfRun(command.opts<Record<string, string | undefined>>())),
});
