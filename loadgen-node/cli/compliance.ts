import { addFlagsInGroups, progressPrinter } from '../../shared/config/command-line.ts';
import { eachTest } from '../official/test-process.ts';
import { makesCppRun } from '../submission/compliance/compliance-run.ts';
import {
  COMPLIANCE_SETTINGS,
  CUSTOM_DATA_SET_SETTINGS,
  flagsOfRun,
  RUN_FLAGS,
} from '../submission/compliance/compliance-settings.ts';
import { complianceTest } from '../submission/compliance/compliance-test.ts';
import {
  CUSTOM_DATA_SET,
  customDataSetTest,
} from '../submission/compliance/custom-data-set/custom-data-set-test.ts';
import { type RunnableTestId, TEST_IDS } from '../submission/rules/submission-rounds.ts';
import { type MakeCommand, verb } from './verb.ts';

const ABOUT: Readonly<Record<RunnableTestId, string>> = {
  TEST01: 'responses in performance mode are those of accuracy mode',
  TEST04: 'the same sample again and again is no faster (no caching)',
  TEST05: 'other random seeds are no slower (rounds to v4.1)',
  TEST06: 'tokens of responses are those streamed and counted',
};

function testVerb(test: RunnableTestId): MakeCommand {
  return verb({
    settings: COMPLIANCE_SETTINGS,
    flags: (command) => addFlagsInGroups(command, RUN_FLAGS, { keys: ['sut', 'dataDir'] }),
    example: `
Example:
  longhaul compliance TEST01 --run results/server --accuracy-run results/server-accuracy

The run of the test is made with the settings of the submission run (longhaul_run.yaml in its
folder); flags win over them. OUTPUT/TESTnn holds what a submission needs, and README.md;
OUTPUT/TESTnn-run the logs of the run.

Exit codes: 0 passed, 3 failed, 2 wrong flag or runs that do not belong together, 4 SUT, 5 data set,
6 this machine, 130 Ctrl-C.`,
    action: async ({ values, command }) => {
      const flags = flagsOfRun(command.opts<Record<string, string | undefined>>());
      return await eachTest(makesCppRun(values, flags), () =>
        complianceTest(test, values, { flags, tell: progressPrinter(command) }),
      );
    },
  });
}

/** `longhaul compliance custom-data-set`: whether a system does as well on samples that it has never seen. */
const customDataSet = verb({
  settings: CUSTOM_DATA_SET_SETTINGS,
  flags: (command) =>
    addFlagsInGroups(command, RUN_FLAGS, { keys: ['sut', 'dataDir', 'dataSeed', 'dataCount'] }),
  example: `
Example:
  longhaul compliance custom-data-set --run results/server --accuracy-run results/accuracy \\
    --data-seed 77

Makes an accuracy run and a performance run with the settings of the submission run
(longhaul_run.yaml in its folder; flags win over them; start it where that run was started) over
another data set, and compares right answers and speed.

Exit codes: 0 passed, 3 failed, 2 wrong flag or runs that cannot be compared, 4 SUT, 5 data set,
6 this machine.`,
  action: async ({ values, command }) => {
    const flags = flagsOfRun(command.opts<Record<string, string | undefined>>());
    return await eachTest(makesCppRun(values, flags), () => customDataSetTest(values, flags));
  },
});

/** `longhaul compliance`: the tests that a closed or network submission has to pass. */
export const complianceVerb = verb({
  verbs: {
    ...Object.fromEntries(TEST_IDS.map((test) => [test, [ABOUT[test], testVerb(test)] as const])),
    [CUSTOM_DATA_SET]: [
      'compare accuracy and speed with those over another data set: finds kept results',
      customDataSet,
    ],
  },
});
