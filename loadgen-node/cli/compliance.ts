import { addFlagsInGroups, progressPrinter } from '../../shared/config/command-line.ts';
import { GIVEN_TEST_IDS, TEST_IDS, type TestId } from '../../shared/rules/rows/model-row.ts';
import { eachTest } from '../official/test-process.ts';
import { makesCppRun } from '../submission/compliance/compliance-run.ts';
import {
  COMPLIANCE_SETTINGS,
  CUSTOM_DATA_SET_SETTINGS,
  flagsOfRun,
  RUN_FLAGS,
  runFlagsOf,
  TEST_ABOUT,
  testExample,
} from '../submission/compliance/compliance-settings.ts';
import { complianceTest } from '../submission/compliance/compliance-test.ts';
import {
  CUSTOM_DATA_SET,
  customDataSetTest,
} from '../submission/compliance/custom-data-set/custom-data-set-test.ts';
import { isRunnableTest } from '../submission/rules/submission-rounds.ts';
import { type MakeCommand, verb } from './verb.ts';

function testVerb(test: TestId): MakeCommand {
  return verb({
    settings: COMPLIANCE_SETTINGS,
    flags: (command) =>
      addFlagsInGroups(command, runFlagsOf(test), {
        keys: isRunnableTest(test) ? ['sut', 'dataDir'] : ['benchmark', 'round'],
      }),
    example: testExample(test),
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
    ...Object.fromEntries(
      [...TEST_IDS, ...GIVEN_TEST_IDS].map((test) => [
        test,
        [TEST_ABOUT[test], testVerb(test)] as const,
      ]),
    ),
    [CUSTOM_DATA_SET]: [
      'compare accuracy and speed with those over another data set: finds kept results',
      customDataSet,
    ],
  },
});
