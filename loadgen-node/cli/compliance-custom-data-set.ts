import type { Command } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import {
  CUSTOM_DATA_SET_SETTINGS,
  flagsOfRun,
  RUN_FLAGS,
} from '../submission/compliance/compliance-settings.ts';
import {
  CUSTOM_DATA_SET,
  customDataSetTest,
} from '../submission/compliance/custom-data-set/custom-data-set-test.ts';

const EXAMPLE = `
Examples:
  longhaul compliance custom-data-set --run results/server --accuracy-run results/accuracy --data-seed 77
  longhaul compliance custom-data-set --run results/server --accuracy-run results/accuracy --data-dir other-images
  longhaul compliance custom-data-set --run A --accuracy-run B --test-run C --test-accuracy-run D

Makes an accuracy run and a performance run with the settings of the submission run (longhaul_run.yaml in its folder;
flags win over them; start it where that run was started) over another data set, and compares right answers and speed.

Exit codes: 0 passed, 3 failed, 2 wrong flag or runs that cannot be compared, 4 SUT, 5 data set, 6 this machine.`;

/** `longhaul compliance custom-data-set`: whether a system does as well on samples that it has never seen. */
export function customDataSetCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand(
    CUSTOM_DATA_SET,
    'compare accuracy and speed with those over another data set: finds kept results',
  );
  return addJson(addFlags(addFlags(command, CUSTOM_DATA_SET_SETTINGS), RUN_FLAGS))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, undefined, CUSTOM_DATA_SET_SETTINGS);
      const flags = flagsOfRun(command.opts<Record<string, string | undefined>>());
      const { exitCode, ...result } = await customDataSetTest(values, flags);
      writeResult(command, result);
      setExitCode(exitCode);
    });
}
