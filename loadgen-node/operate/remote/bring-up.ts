import { MlperfError, type MlperfErrorCode } from '../../../shared/base/errors/mlperf-error.ts';
import { orAbort } from '../../run/host/host.ts';
import type { NodeStart } from './agent/agent-words.ts';
import { type Certificates, provideCertificates } from './certificates.ts';
import { topologyWarnings } from './host-checks.ts';
import { allOrErrors, ask, execute, type HostSession, hostError } from './host-session.ts';
import {
  groupBy,
  Hosts,
  type InstallContext,
  type RemoteContext,
  reportOf,
} from './hosts-of-inventory.ts';
import { installPackages } from './install-packages.ts';
import type { HostSpec } from './inventory/inventory.ts';
import { type Installed, nameLaunch, nodeStart } from './launch-plans.ts';
import { OTHERS_MS, StartedNodes } from './started-nodes.ts';

/** A SUT that is up, and what holds it. */
export interface UpSut {
  readonly hosts: Hosts;
  readonly installedOf: (spec: HostSpec) => Installed;
  readonly certificates: Certificates | undefined;
  readonly started: StartedNodes;
  /** What the audit will say about the places of the halves. */
  readonly warnings: readonly string[];
}

/** How nodes are started. */
export interface UpOptions {
  /** True: they end with this process, however it ends. */
  readonly isHeld: boolean;
  /** True: nodes with other settings are stopped and started anew; false: they are refused. */
  readonly isRestarting: boolean;
}

/**
 * Brings a SUT up, does something with it, and closes the connections. Where anything fails or a signal comes, the nodes that were
 * started are stopped before the error goes on.
 * @throws MlperfError
 */
export async function withSut<T>(
  context: InstallContext,
  options: UpOptions,
  use: (sut: UpSut) => Promise<T>,
): Promise<T> {
  const hosts = new Hosts(context);
  const started = new StartedNodes(context, options.isHeld);
  try {
    const sut = await bringUp(context, options, hosts, started);
    return await use(sut);
  } catch (error) {
    await started.stop();
    throw error;
  } finally {
    await hosts.close();
    context.packages.close();
  }
}

/** What `up` leaves running. */
export interface StayingSut {
  readonly nodes: readonly { readonly name: string; readonly address: string }[];
  /** Names of those that were not running before. */
  readonly started: readonly string[];
  readonly warnings: readonly string[];
}

/** Brings a SUT up that stays. @throws MlperfError */
export async function bringUpToStay(context: InstallContext): Promise<StayingSut> {
  const nodes = context.inventory.nodes.map(({ name, address }) => ({ name, address }));
  const how = { isHeld: false, isRestarting: true };
  return await withSut(context, how, async ({ started, warnings }) => {
    for (const warning of warnings) context.host.report(`warning: ${warning}`);
    await started.keep();
    return { nodes, started: [...started.names], warnings };
  });
}

async function bringUp(
  context: InstallContext,
  { isRestarting }: UpOptions,
  hosts: Hosts,
  started: StartedNodes,
): Promise<UpSut> {
  const { inventory, host } = context;
  const certificates = provideCertificates(inventory, host);
  await hosts.connect();
  for (const session of hosts.sessions) {
    const { hostname, nodeVersion, platform, arch, folder } = session.facts;
    const what = `${hostname}, ${platform} ${arch}, Node.js ${nodeVersion}, folder ${folder}`;
    reportOf(context, session, what);
  }
  const installedOf = await orAbort(host, installPackages(context, hosts));
  const wanted = groupBy(
    inventory.nodes.map((node) => {
      const tls = certificates?.nodes.get(node.name);
      return [hosts.of(node.host), nodeStart(node, installedOf(node.host), tls)] as const;
    }),
    ([session]) => session,
  );
  const starting = [...wanted].map(async ([session, pairs]) => {
    const nodes = pairs.map(([, node]) => node);
    if (isRestarting) await stopDifferent(context, session, nodes);
    await started.start(session, nodes);
  });
  await orAbort(host, allOrErrors(starting, OTHERS_MS));
  await orAbort(host, checkNames(context, hosts, installedOf, certificates));
  const loadgen = hosts.of(inventory.loadgen);
  const warnings = topologyWarnings(inventory, (spec) => hosts.of(spec), loadgen);
  return { hosts, installedOf, certificates, started, warnings };
}

/** Stops nodes of an earlier `up` that run otherwise than they should now. */
async function stopDifferent(
  context: RemoteContext,
  session: HostSession,
  nodes: readonly NodeStart[],
): Promise<void> {
  const names = nodes.flatMap(({ name, digest }) => {
    const state = session.facts.states.find((one) => one.name === name);
    if (state === undefined || !state.isAlive || state.isHeld) return [];
    return state.digest === digest ? [] : [name];
  });
  if (names.length === 0) return;
  const { folder } = session.facts;
  const timeoutMs = context.inventory.stopTimeoutMs;
  await ask(
    session,
    { verb: 'stop', folder, names, timeoutMs },
    {
      onEvent: (event) => {
        if (event.event !== 'stopped') return;
        const why = 'its settings or its package are others now';
        reportOf(context, session, `${event.node}: stopped (${event.how}): ${why}`);
      },
    },
  );
}

/** The LoadGen node asks every SUT node for its name: addresses, firewalls, certificates and names are right, or are told before a run. */
async function checkNames(
  context: RemoteContext,
  hosts: Hosts,
  installedOf: (spec: HostSpec) => Installed,
  certificates: Certificates | undefined,
): Promise<void> {
  const { inventory } = context;
  const session = hosts.of(inventory.loadgen);
  const name = `check-${Date.now()}-${process.pid}`;
  const command = nameLaunch(inventory, installedOf(inventory.loadgen), certificates, name);
  const { folder } = session.facts;
  const stopTimeoutMs = inventory.stopTimeoutMs;
  const { code, stdout, stderr } = await execute(session, {
    ...{ verb: 'exec', folder, stopTimeoutMs },
    ...command,
  });
  if (code === 0) {
    const { roundTripNs } = namesOf(stdout);
    const tripText = roundTripNs === undefined ? '' : ` in ${(roundTripNs / 1e6).toFixed(2)} ms`;
    reportOf(context, session, `reaches every SUT node${tripText}`);
    return;
  }
  const error = errorOf(stdout);
  if (error === undefined) throw hostError(session.label, lastLine(stderr) ?? `exit code ${code}`);
  throw new MlperfError(error.code, `${session.label}: ${error.message}`);
}

function namesOf(stdout: string): { roundTripNs: number | undefined } {
  try {
    const { durationNs } = JSON.parse(stdout) as { durationNs?: number };
    return { roundTripNs: durationNs };
  } catch {
    return { roundTripNs: undefined };
  }
}

/** The error of a verb with `--json`, if it had one. */
function errorOf(stdout: string): { code: MlperfErrorCode; message: string } | undefined {
  for (const line of stdout.split('\n')) {
    try {
      const { error } = JSON.parse(line) as { error?: { code: MlperfErrorCode; message: string } };
      if (error !== undefined) return error;
    } catch {
      // A line of a document, or none of ours.
    }
  }
  return undefined;
}

function lastLine(text: string): string | undefined {
  return text.trim().split('\n').at(-1) || undefined;
}
