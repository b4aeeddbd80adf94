import type { Command } from 'commander';
import { EXIT } from '../../shared/base/process/exit-codes.ts';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { DOCTOR_SETTINGS, examine } from '../operate/doctor/examine.ts';
import { doctorJson, doctorText } from '../operate/doctor/finding.ts';
import { CommandHost } from '../run/host/host.ts';

const EXAMPLE = `
The link test sends load to each node, one after the other. A node in the middle of a run refuses it.

Examples:
  longhaul doctor
  longhaul doctor --sut 10.0.0.2:50051 --benchmark resnet50 --data-dir imagenet --scenario Server --target-qps 500

Exit codes: 0 no errors (warnings do not count), 3 errors, 4 a node does not answer, 2 wrong flag.`;

/** `longhaul doctor`: what a run would meet on this machine, its links and its nodes. */
export function doctorCommand(setExitCode: (code: number) => void): Command {
  const command = createCommand('doctor', 'look at machine, link and nodes before a run');
  return addFlags(addJson(command), DOCTOR_SETTINGS)
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, undefined, DOCTOR_SETTINGS);
      const host = new CommandHost();
      const { groups, hasLost } = await examine(values, command.opts(), host);
      host.progress(null);
      const json = doctorJson(groups);
      writeResult(command, { text: doctorText(groups), json });
      if (hasLost) setExitCode(EXIT.sut);
      else setExitCode(json.errors > 0 ? EXIT.invalid : EXIT.valid);
    });
}
