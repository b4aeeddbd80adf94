import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { addFlags, createCommand } from '../../../shared/config/command-line.ts';
import type { SettingTable } from '../../../shared/config/setting.ts';
import type { RunHost } from '../../run/host/host.ts';
import { RUN_SETTINGS } from '../../run/plan/run-settings.ts';
import type { OpenLink } from './hosts/host-link.ts';
import { LocalLink } from './hosts/local-link.ts';
import { SshLink } from './hosts/ssh-link.ts';
import type { InstallContext, RemoteContext } from './hosts-of-inventory.ts';
import { OWN_RUN_KEYS, without } from './inventory/inventory-tables.ts';
import { readInventory } from './inventory/read-inventory.ts';
import { Packages } from './packages/plan-packages.ts';

/** What a verb of `longhaul remote` is given. */
export interface RemoteRequest {
  /** Path of the inventory. */
  readonly inventory: string | undefined;
  /** Flags of `longhaul run`, over the inventory's settings. */
  readonly runFlags: readonly string[];
  /** All settings of `longhaul sut`. */
  readonly sutSettings: SettingTable;
}

/** Reads and checks everything but packages, before any host is touched. @throws MlperfError */
export async function openRemote(
  { inventory: path, runFlags, sutSettings }: RemoteRequest,
  host: RunHost,
): Promise<RemoteContext> {
  if (path === undefined) {
    const message = '--inventory <file> is needed: docs/remote.md has one to begin with';
    throw new MlperfError('ERR_CONFIG_INVALID', message);
  }
  const tables = { run: RUN_SETTINGS, sut: sutSettings };
  const inventory = readInventory(path, { ...tables, runFlags: await parseRunFlags(runFlags) });
  return { inventory, packages: undefined, openLink, host };
}

const openLink: OpenLink = ({ ssh, sshConfig, nodePath }) =>
  ssh === undefined ? new LocalLink(nodePath) : new SshLink(ssh, sshConfig, nodePath);

/** Flags of the run by key, as `longhaul run` itself would read them. */
async function parseRunFlags(
  flags: readonly string[],
): Promise<Readonly<Record<string, string | undefined>>> {
  const parser = addFlags(createCommand('run', ''), without(RUN_SETTINGS, OWN_RUN_KEYS));
  await parser.action(() => {}).parseAsync([...flags], { from: 'user' });
  return parser.opts();
}

/** With the packages that hosts are to have. @throws MlperfError where one cannot be read or made here */
export async function withPackages(context: RemoteContext): Promise<InstallContext> {
  return { ...context, packages: await Packages.plan(context.inventory) };
}

/** The same for a look at hosts: a package that is gone from this machine prevents no look. */
export async function withKnownPackages(context: RemoteContext): Promise<RemoteContext> {
  try {
    return await withPackages(context);
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    context.host.report(`whether hosts have the package is not known: ${error.message}`);
    return context;
  }
}
