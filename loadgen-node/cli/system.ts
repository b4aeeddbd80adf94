import type { Command } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { DESCRIBE_SETTINGS } from '../submission/system/describe-settings.ts';
import { describeSystem } from '../submission/system/describe-system.ts';

const EXAMPLE = `
What cannot be read stays "TODO: ..." and is listed. Exit code 0 also then; 4 when a node does not answer.

Examples:
  longhaul system describe --sut 10.0.0.2:50051 --output systems/acme.json --merge acme.yaml
  longhaul system describe --local --output systems/acme-closed.json --submitter ACME`;

/** `longhaul system`: what the machines of a run are. */
export function systemCommand(): Command {
  const command = createCommand('system', 'describe the machines of a run for a submission');
  return command.addCommand(describeCommand());
}

/** `longhaul system describe`: the description of a system that a submission needs. */
function describeCommand(): Command {
  const command = createCommand('describe', 'read the hosts of a run and write their description');
  return addJson(addFlags(command, DESCRIBE_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, undefined, DESCRIBE_SETTINGS);
      writeResult(command, await describeSystem(values));
    });
}
