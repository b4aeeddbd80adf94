import type { Command } from 'commander';
import { writeResult } from '../../shared/base/process/json-output.ts';
import { bringUpToStay } from '../operate/remote/bring-up.ts';
import { withPackages } from '../operate/remote/open-remote.ts';
import { planResult, upText } from '../operate/remote/remote-text.ts';
import { addDryRun, type LoadTable, openInventory, remoteVerb } from './remote-options.ts';

/** `longhaul remote up`: SUT nodes that stay. */
export function remoteUpCommand(loadSutOptions: LoadTable): Command {
  const about = 'start the SUT nodes, and wait until LoadGen reaches them; they stay';
  const command = addDryRun(remoteVerb('up', about));
  return command.action(async () => {
    const { context: opened, isDry } = await openInventory(command, loadSutOptions);
    const context = await withPackages(opened);
    if (isDry) return writeResult(command, planResult(context, { isRun: false, output: '' }));
    const json = await bringUpToStay(context);
    writeResult(command, { text: upText(context.inventory), json });
  });
}
