import type { Command } from 'commander';
import { writeResult } from '../../shared/base/process/json-output.ts';
import { withKnownPackages } from '../operate/remote/open-remote.ts';
import { hostsText } from '../operate/remote/remote-text.ts';
import { status } from '../operate/remote/take-down.ts';
import { type LoadTable, openInventory, remoteVerb } from './remote-options.ts';

/** `longhaul remote status`: what runs on the hosts. */
export function remoteStatusCommand(loadSutOptions: LoadTable): Command {
  const command = remoteVerb('status', 'say what runs on the hosts');
  return command.action(async () => {
    const { context } = await openInventory(command, loadSutOptions);
    const hosts = await status(await withKnownPackages(context));
    writeResult(command, { text: hostsText(hosts), json: { hosts } });
  });
}
