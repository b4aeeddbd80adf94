import { type Command, Option } from 'commander';
import { addJson } from '../../shared/base/process/json-output.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import type { RemoteContext } from '../operate/remote/hosts-of-inventory.ts';
import { openRemote } from '../operate/remote/open-remote.ts';
import { CommandHost } from '../run/host/host.ts';

/** Loads the settings of `longhaul sut`, which an inventory may have, too. */
export type LoadTable = () => Promise<SettingTable>;

/** It may stand before the verb below and behind it. */
export function addInventory(command: Command): Command {
  return command.addOption(new Option('--inventory <file>', 'hosts and settings (YAML)'));
}

/** A verb below `longhaul remote`. */
export function remoteVerb(name: string, about: string): Command {
  return addJson(addInventory(createCommand(name, about)));
}

/** A verb that can say what it would do. */
export function addDryRun(command: Command): Command {
  return command.option('--dry-run', 'say what would be done, and touch no host');
}

/** The inventory of a command line, and who reports. */
interface OpenedRemote {
  readonly context: RemoteContext;
  readonly host: CommandHost;
  readonly isDry: boolean;
}

/** @param runFlags Flags of `longhaul run`. @throws MlperfError before any host is touched */
export async function openInventory(
  command: Command,
  loadSutOptions: LoadTable,
  runFlags: readonly string[] = [],
): Promise<OpenedRemote> {
  const { inventory, dryRun } = command.optsWithGlobals<{ inventory?: string; dryRun?: boolean }>();
  const host = new CommandHost('interrupted: ending what was started; once more to end at once');
  const sutSettings = await loadSutOptions();
  const context = await openRemote({ inventory, runFlags, sutSettings }, host);
  return { context, host, isDry: dryRun === true };
}
