import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { NODE_FLAGS } from '../../../shared/base/process/node-flags.ts';
import type { HostFacts, NodeStart } from './agent/agent-words.ts';
import type { Certificates, TlsFiles } from './certificates.ts';
import type { HostSpec, Inventory, NodeSpec } from './inventory/inventory.ts';

/** longhaul on a host: its facts and, where it was installed by us, its main file. */
export interface Installed {
  readonly facts: HostFacts;
  /** Undefined: the inventory's `command`. */
  readonly main: string | undefined;
}

/** Words of longhaul on a host, up to its verb. */
function commandOf({ pin, nodeFlags, source }: HostSpec, { facts, main }: Installed): string[] {
  const pinned = pin === undefined ? [] : ['taskset', '-c', pin];
  if (source.kind === 'command') return [...pinned, source.command];
  return [...pinned, facts.nodePath, ...NODE_FLAGS, ...nodeFlags, main ?? ''];
}

/** What a host is asked to start for a SUT node. Values stand in a file: no shell and no process list sees them. */
export function nodeStart(
  { name, address, listen, settings, host }: NodeSpec,
  installed: Installed,
  tls: TlsFiles | undefined,
): NodeStart {
  const own = join(installed.facts.folder, 'run', name);
  const security = tls === undefined ? {} : nodeSecurity(own, tls);
  const config = { sut: { ...settings, node: name, listen, ...security } };
  const argv = [
    ...commandOf(host, installed),
    'sut',
    '--config',
    join(own, 'config.yaml'),
    '--json',
  ];
  const files = { 'config.yaml': JSON.stringify(config), ...tls };
  const { environment } = host;
  const text = JSON.stringify([argv, environment, files]);
  const digest = createHash('sha256').update(text).digest('hex');
  return { name, address, digest, argv, environment, files };
}

function nodeSecurity(own: string, tls: TlsFiles): Record<string, string> {
  const token = tls['token'] === undefined ? {} : { tokenFile: join(own, 'token') };
  return {
    tlsCert: join(own, 'tls.crt'),
    tlsKey: join(own, 'tls.key'),
    tlsClientCa: join(own, 'ca.crt'),
    ...token,
  };
}

/** A command of the LoadGen node. */
export interface LoadGenCommand {
  /** Name of its folder below `run/`. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

/** The question whether LoadGen reaches every node, with its certificates. */
export function nameLaunch(
  { loadgen, nodes }: Inventory,
  installed: Installed,
  certificates: Certificates | undefined,
  name: string,
): LoadGenCommand {
  const own = join(installed.facts.folder, 'run', name);
  const flags = Object.entries(runSecurity(own, certificates)).flatMap(([key, path]) => [
    `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    path,
  ]);
  const addresses = nodes.map(({ address }) => address).join(',');
  const argv = [...commandOf(loadgen, installed), 'name', '--sut', addresses, ...flags, '--json'];
  return { name, argv, environment: loadgen.environment, files: { ...certificates?.loadgen } };
}

/** The run itself. @param output Folder on the host. */
export function runLaunch(
  { loadgen, nodes, run }: Inventory,
  installed: Installed,
  certificates: Certificates | undefined,
  {
    name,
    output,
    isJson,
  }: { readonly name: string; readonly output: string; readonly isJson: boolean },
): LoadGenCommand {
  const own = join(installed.facts.folder, 'run', name);
  const sut = nodes.map(({ address }) => address);
  const config = { run: { ...run, sut, output, ...runSecurity(own, certificates) } };
  const json = isJson ? ['--json'] : [];
  const argv = [
    ...commandOf(loadgen, installed),
    'run',
    '--config',
    join(own, 'config.yaml'),
    ...json,
  ];
  const files = { 'config.yaml': JSON.stringify(config), ...certificates?.loadgen };
  return { name, argv, environment: loadgen.environment, files };
}

function runSecurity(own: string, certificates: Certificates | undefined): Record<string, string> {
  if (certificates === undefined) return {};
  const token =
    certificates.loadgen['token'] === undefined ? {} : { tokenFile: join(own, 'token') };
  return {
    tlsCa: join(own, 'ca.crt'),
    tlsCert: join(own, 'tls.crt'),
    tlsKey: join(own, 'tls.key'),
    ...token,
  };
}
