import { addFlagsInGroups, progressPrinter } from '../../shared/config/command-line.ts';
import { GIVEN_TEST_IDS, TEST_IDS, type TestId } from '../../shared/rules/rows/model-row.ts';
import { eachTest } from '../official/test-process.ts';
import { makesCppRun } from '../submission/compliance/compliance-run.ts';
import {
  COMPLIANCE_SETTINGS,
  flagsOfRun,
  runFlagsOf,
  TEST_ABOUT,
  testExample,
} from '../submission/compliance/compliance-settings.ts';
import { complianceTest } from '../submission/compliance/compliance-test.ts';
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

/** `longhaul compliance`: the tests that a closed or network submission has to pass. */
export const complianceVerb = verb({
  verbs: Object.fromEntries(
    [...TEST_IDS, ...GIVEN_TEST_IDS].map((test) => [
      test,
      [TEST_ABOUT[test], testVerb(test)] as const,
    ]),
  ),
});
