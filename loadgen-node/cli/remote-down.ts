import type { Command } from 'commander';
import { writeResult } from '../../shared/base/process/json-output.ts';
import { takeDown } from '../operate/remote/take-down.ts';
import { type LoadTable, openInventory, remoteVerb } from './remote-options.ts';

/** `longhaul remote down`: stops what runs on the hosts. */
export function remoteDownCommand(loadSutOptions: LoadTable): Command {
  const about = 'drain and stop the SUT nodes and any run of LoadGen; logs and installations stay';
  const command = remoteVerb('down', about).option(
    '--purge',
    'remove what longhaul keeps on the hosts as well: installations, logs, results',
  );
  return command.action(async () => {
    const { context } = await openInventory(command, loadSutOptions);
    const isPurging = command.opts<{ purge?: boolean }>().purge === true;
    const hosts = await takeDown(context, { isPurging });
    writeResult(command, { text: 'everything of this inventory is down\n', json: { hosts } });
  });
}
