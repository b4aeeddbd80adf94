import type { Command } from 'commander';
import { addJson, progressStream, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import {
  COMPLIANCE_SETTINGS,
  flagsOfRun,
  RUN_FLAGS,
} from '../submission/compliance/compliance-settings.ts';
import { complianceTest } from '../submission/compliance/compliance-test.ts';
import { type RunnableTestId, TEST_IDS } from '../submission/rules/submission-rounds.ts';
import { customDataSetCommand } from './compliance-custom-data-set.ts';

const EXAMPLE = `
Example:
  longhaul compliance TEST01 --run results/server --accuracy-run results/server-accuracy

The run of the test is made with the settings of the submission run (longhaul_run.yaml in its folder); flags win
over them. OUTPUT/TESTnn holds what a submission needs, and README.md; OUTPUT/TESTnn-run the logs of the run.

Exit codes: 0 passed, 3 failed, 2 wrong flag or runs that do not belong together, 4 SUT, 5 data set, 6 this machine,
130 Ctrl-C.`;

const ABOUT: Readonly<Record<RunnableTestId, string>> = {
  TEST01: 'responses in performance mode are those of accuracy mode',
  TEST04: 'the same sample again and again is no faster (nothing is cached)',
  TEST05: 'other random seeds are no slower (rounds to v4.1)',
  TEST06: 'tokens of responses are those streamed and counted',
};

/** `longhaul compliance`: the tests that a closed or network submission has to pass. */
export function complianceCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('compliance', 'run and verify a compliance test');
  for (const test of TEST_IDS) command.addCommand(testCommand(test, setExitCode));
  return command.addCommand(customDataSetCommand(setExitCode));
}

function testCommand(test: RunnableTestId, setExitCode: (code: number) => void): Command {
  const command = createCommand(test, ABOUT[test]);
  addFlags(addFlags(command, COMPLIANCE_SETTINGS), RUN_FLAGS);
  return addJson(command)
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, undefined, COMPLIANCE_SETTINGS);
      const flags = flagsOfRun(command.opts<Record<string, string | undefined>>());
      const tell = (text: string): void => void progressStream(command).write(text);
      const { exitCode, ...result } = await complianceTest(test, values, { flags, tell });
      writeResult(command, result);
      setExitCode(exitCode);
    });
}
