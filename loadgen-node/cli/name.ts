import type { Command } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand, settingsOf } from '../../shared/config/command-line.ts';
import { askNodeNames, NAME_SETTINGS } from '../run/ask-nodes.ts';
import { nameLines } from '../run/screen/print-report.ts';

const EXAMPLE = `
Example:
  longhaul name --sut 10.0.0.2:50051,10.0.0.3:50051
  longhaul name --sut oip://10.0.0.4:8001`;

/** `longhaul name`: what LoadGen's Name() would say, and each node's round trip. */
export function nameCommand(): Command {
  const command = createCommand('name', 'ask SUT nodes for their names: one round trip to each');
  return addJson(addFlags(command, NAME_SETTINGS))
    .addHelpText('after', EXAMPLE)
    .action(async () => {
      const { values } = settingsOf(command, undefined, NAME_SETTINGS);
      const call = await askNodeNames(values);
      writeResult(command, { text: `${nameLines([call]).join('\n')}\n`, json: call });
    });
}
