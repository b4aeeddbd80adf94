import { Argument, type Command, Option } from 'commander';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { addJson, wantsJson, writeResult } from '../../shared/base/process/json-output.ts';
import { addFlags, createCommand } from '../../shared/config/command-line.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import { withSut } from '../operate/remote/bring-up.ts';
import { describePlan } from '../operate/remote/describe-plan.ts';
import type { OpenLink } from '../operate/remote/hosts/host-link.ts';
import { LocalLink } from '../operate/remote/hosts/local-link.ts';
import { SshLink } from '../operate/remote/hosts/ssh-link.ts';
import type { InstallContext, RemoteContext } from '../operate/remote/hosts-of-inventory.ts';
import { inventoryJsonSchema } from '../operate/remote/inventory/inventory-schema.ts';
import { OWN_RUN_KEYS, without } from '../operate/remote/inventory/inventory-tables.ts';
import { readInventory } from '../operate/remote/inventory/read-inventory.ts';
import { measure } from '../operate/remote/measure.ts';
import { folderName } from '../operate/remote/output-folder.ts';
import { Packages } from '../operate/remote/packages/plan-packages.ts';
import {
  hostsText,
  outputFolder,
  planText,
  runText,
  upText,
} from '../operate/remote/remote-text.ts';
import { status, takeDown } from '../operate/remote/take-down.ts';
import { CommandHost } from '../run/host/host.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';

const ABOUT =
  'measure bare machines by ssh: bring SUT nodes up, run, fetch the results, take all down';

const CODES =
  '2 wrong flag, key or inventory, 4 SUT, 6 a host or this machine, 130 Ctrl-C, 143 SIGTERM';

const EXAMPLE = `
Example:
  longhaul remote --inventory hosts.yaml run --output results/first -- --target-qps 200
  longhaul remote --inventory hosts.yaml up          SUT nodes that stay
  longhaul remote --inventory hosts.yaml status
  longhaul remote --inventory hosts.yaml down

Hosts need sh, tar and Node.js; this machine needs ssh that logs in without a question. docs/remote.md has an inventory.

Exit codes: 0 done, or VALID, 3 INVALID or a --threshold is not met, 5 data set or model, ${CODES}.`;

type LoadTable = () => Promise<SettingTable>;
type SetExitCode = (code: number) => void;

interface RemoteFlags {
  readonly inventory?: string;
  readonly dryRun?: boolean;
  readonly schema?: boolean;
  readonly output?: string;
  readonly keep?: boolean;
  readonly purge?: boolean;
}

/** `longhaul remote`: bare machines by the system's own ssh. */
export function remoteCommand(setExitCode: SetExitCode, loadSutOptions: LoadTable): Command {
  const command = addJson(addInventory(createCommand('remote', ABOUT)))
    .option('--schema', 'print the JSON Schema of an inventory')
    .addHelpText('after', EXAMPLE);
  command.action(async () => {
    if (command.opts<RemoteFlags>().schema !== true) {
      const message = 'remote: say what to do: up, run, status or down (see --help)';
      throw new MlperfError('ERR_CONFIG_INVALID', message);
    }
    const schema = inventoryJsonSchema({ run: RUN_SETTINGS, sut: await loadSutOptions() });
    process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  });
  return command
    .addCommand(upCommand(loadSutOptions))
    .addCommand(runCommand(setExitCode, loadSutOptions))
    .addCommand(statusCommand(loadSutOptions))
    .addCommand(downCommand(loadSutOptions));
}

/** It may stand before the verb below and behind it. */
function addInventory(command: Command): Command {
  return command.addOption(new Option('--inventory <file>', 'hosts and settings (YAML)'));
}

function subCommand(name: string, about: string): Command {
  return addJson(addInventory(createCommand(name, about)));
}

const DRY_RUN = 'say what would be done, and touch no host';

function upCommand(loadSutOptions: LoadTable): Command {
  const about = 'start the SUT nodes, and wait until LoadGen reaches them; they stay';
  const command = subCommand('up', about).option('--dry-run', DRY_RUN);
  return command.action(async () => {
    const opened = await open(command, loadSutOptions, []);
    const context = await planned(opened.context);
    if (opened.isDry) return writePlan(command, context, { isRun: false, output: '' });
    const how = { isHeld: false, isRestarting: true };
    const nodes = context.inventory.nodes.map(({ name, address }) => ({ name, address }));
    const json = await withSut(context, how, async ({ started, warnings }) => {
      for (const warning of warnings) context.say('', `warning: ${warning}`);
      await started.keep();
      return { nodes, started: [...started.names], warnings };
    });
    writeResult(command, { text: upText(context.inventory), json });
  });
}

function runCommand(setExitCode: SetExitCode, loadSutOptions: LoadTable): Command {
  const command = subCommand('run', 'measure from the LoadGen host, and fetch results and logs')
    .option('--output <folder>', 'folder here (default: results/remote-<time>-<process>)')
    .option('--keep', 'SUT nodes that this run starts stay after it')
    .option('--dry-run', DRY_RUN)
    .addArgument(
      new Argument('[flags...]', 'after --: flags of "longhaul run", over the inventory'),
    );
  return command.action(async (flags: string[]) => {
    const opened = await open(command, loadSutOptions, flags);
    const { host } = opened;
    const context = await planned(opened.context);
    const { output: named, keep } = command.opts<RemoteFlags>();
    const output = folderName(named ?? outputFolder());
    if (opened.isDry) return writePlan(command, context, { isRun: true, output });
    const isJson = wantsJson(command);
    const parts: Buffer[] = [];
    const measured = await measure(context, {
      ...{ output, isJson, isKeeping: keep === true },
      // It names folders of the host, which have another name here when it is printed.
      onOutput: (data) => parts.push(data),
      onStderr: (data) => process.stderr.write(data),
    });
    const exitCode = host.exitCode ?? measured.exitCode;
    const said = Buffer.concat(parts).toString();
    writeResult(command, runText(said, { ...measured, output, exitCode }, isJson));
    setExitCode(exitCode);
  });
}

function statusCommand(loadSutOptions: LoadTable): Command {
  const command = subCommand('status', 'say what runs on the hosts');
  return command.action(async () => {
    const { context } = await open(command, loadSutOptions, []);
    const packages = await plannedOrUnknown(context);
    const hosts = await status({ ...context, packages });
    writeResult(command, { text: hostsText(hosts), json: { hosts } });
  });
}

function downCommand(loadSutOptions: LoadTable): Command {
  const about = 'drain and stop the SUT nodes and any run of LoadGen; logs and installations stay';
  const command = subCommand('down', about).option(
    '--purge',
    'remove what longhaul keeps on the hosts as well: installations, logs, results',
  );
  return command.action(async () => {
    const { context } = await open(command, loadSutOptions, []);
    const isPurging = command.opts<RemoteFlags>().purge === true;
    const hosts = await takeDown(context, { isPurging });
    writeResult(command, { text: 'everything of this inventory is down\n', json: { hosts } });
  });
}

interface Opened {
  readonly context: RemoteContext;
  readonly host: CommandHost;
  readonly isDry: boolean;
}

const openLink: OpenLink = ({ ssh, sshConfig, nodePath }) =>
  ssh === undefined ? new LocalLink(nodePath) : new SshLink(ssh, sshConfig, nodePath);

/** The packages that hosts are to have. @throws MlperfError where one cannot be read or made here */
async function planned(context: RemoteContext): Promise<InstallContext> {
  return { ...context, packages: await Packages.plan(context.inventory) };
}

/** For a look at hosts: a package that is gone from this machine keeps nobody from it. */
async function plannedOrUnknown({ inventory, say }: RemoteContext): Promise<Packages | undefined> {
  try {
    return await Packages.plan(inventory);
  } catch (error) {
    if (!(error instanceof MlperfError)) throw error;
    say('', `whether hosts have the package is not known: ${error.message}`);
    return undefined;
  }
}

/** Reads and checks everything but packages before any host is touched. @throws MlperfError */
async function open(
  command: Command,
  loadSutOptions: LoadTable,
  flags: readonly string[],
): Promise<Opened> {
  const { inventory: path, dryRun } = command.optsWithGlobals<RemoteFlags>();
  if (path === undefined) {
    const message = '--inventory <file> is needed: docs/remote.md has one to begin with';
    throw new MlperfError('ERR_CONFIG_INVALID', message);
  }
  const tables = { run: RUN_SETTINGS, sut: await loadSutOptions() };
  const inventory = readInventory(path, { ...tables, runFlags: await parseRunFlags(flags) });
  const host = new CommandHost('interrupted: ending what was started; once more to end at once');
  const say = (name: string, text: string): void =>
    host.report(name === '' ? text : `[${name}] ${text}`);
  const { signal } = host;
  const context = { inventory, packages: undefined, openLink, signal, say };
  return { context, host, isDry: dryRun === true };
}

/** Flags of the run by key, as `longhaul run` itself would read them. */
async function parseRunFlags(
  flags: readonly string[],
): Promise<Readonly<Record<string, string | undefined>>> {
  const parser = addFlags(createCommand('run', ''), without(RUN_SETTINGS, OWN_RUN_KEYS));
  await parser.action(() => {}).parseAsync([...flags], { from: 'user' });
  return parser.opts();
}

function writePlan(
  command: Command,
  { inventory, packages }: InstallContext,
  options: { readonly isRun: boolean; readonly output: string },
): void {
  const plan = describePlan(inventory, packages, options);
  writeResult(command, { text: planText(plan), json: { plan } });
}
