import type { SeenState } from './agent/agent-words.ts';
import { ask, type HostSession } from './host-session.ts';
import { Hosts, type RemoteContext, reportOf } from './hosts-of-inventory.ts';
import type { HostSpec } from './inventory/inventory.ts';

/** What a host has and had. */
export interface HostReport {
  readonly host: string;
  readonly hostname: string;
  readonly nodeVersion: string;
  readonly freeBytes: number;
  /** Null where this is not known: nobody asked, or the package cannot be read here. */
  readonly isInstalled: boolean | null;
  readonly processes: readonly ProcessReport[];
}

/** A process of longhaul on a host. */
export interface ProcessReport {
  readonly name: string;
  readonly kind: 'sut' | 'loadgen';
  readonly processId: number;
  readonly since: string;
  /** `runs`, or how it ended when it was stopped. */
  readonly state: string;
  readonly isInInventory: boolean;
}

/** A host that was reached, with the entries that name it. */
interface Reached {
  readonly session: HostSession;
  readonly specs: readonly HostSpec[];
}

/** Tells what runs on every host. @throws MlperfError `ERR_HOST` after all that can be reached were asked */
export async function status(context: RemoteContext): Promise<HostReport[]> {
  return await onEachHost(context, ({ session, specs }) => {
    const processes = session.facts.states
      .filter(({ isAlive }) => isAlive)
      .map((state) => processReport(context, state, 'runs'));
    return Promise.resolve(hostReport(context, session, specs, processes));
  });
}

/**
 * Stops the nodes of the inventory and every run of LoadGen on its hosts, and removes what those left that are gone already.
 * @param isPurging Removes packages, installations, logs and results as well.
 * @throws MlperfError `ERR_HOST` after everything that can be reached was stopped
 */
export async function takeDown(
  context: RemoteContext,
  { isPurging }: { readonly isPurging: boolean },
): Promise<HostReport[]> {
  return await onEachHost(context, async ({ session, specs }) => {
    const { folder, states } = session.facts;
    const alive = states.filter(({ isAlive }) => isAlive);
    const isOurs = (state: SeenState): boolean => isInInventory(context, state);
    // Those that ended by themselves as well: their keys are there until somebody removes them.
    const ours = states.filter(isOurs);
    const names = ours.map(({ name }) => name);
    const how = new Map<string, string>();
    const timeoutMs = context.inventory.stopTimeoutMs;
    if (names.length === 0) reportOf(context, session, 'nothing of this inventory runs');
    else {
      await ask(
        session,
        { verb: 'stop', folder, names, timeoutMs },
        {
          onEvent: (event) => {
            if (event.event !== 'stopped') return;
            how.set(event.node, event.how);
            const rest = event.how === 'was gone' ? ', what it left is removed' : '';
            reportOf(context, session, `${event.node}: ${event.how}${rest}`);
          },
        },
      );
    }
    const others = alive.filter((state) => !isOurs(state));
    for (const { name, processId } of others) {
      reportOf(context, session, `${name}: left, process ${processId}: not in this inventory`);
    }
    if (isPurging) await purge(context, session, others);
    const processes = [...ours, ...others].map((state) =>
      processReport(context, state, how.get(state.name) ?? 'runs'),
    );
    return hostReport(context, session, specs, processes);
  });
}

async function purge(
  context: RemoteContext,
  session: HostSession,
  others: readonly SeenState[],
): Promise<void> {
  const { folder } = session.facts;
  if (others.length > 0) {
    reportOf(context, session, `nothing is removed: others use ${folder}`);
    return;
  }
  const names = ['packages', 'installs', 'run', 'results'];
  await ask(session, { verb: 'remove', folder, names });
  reportOf(context, session, `removed ${names.join(', ')} from ${folder}`);
}

async function onEachHost(
  context: RemoteContext,
  work: (host: Reached) => Promise<HostReport>,
): Promise<HostReport[]> {
  const hosts = new Hosts(context);
  try {
    // A host that cannot be reached, or hangs, must not keep the others from being stopped.
    return await hosts.connectEach((session, specs) => work({ session, specs }));
  } finally {
    await hosts.close();
    context.packages?.close();
  }
}

function isInInventory({ inventory }: RemoteContext, { name, kind }: SeenState): boolean {
  return kind === 'loadgen' || inventory.nodes.some((node) => node.name === name);
}

function processReport(context: RemoteContext, state: SeenState, how: string): ProcessReport {
  const { name, kind, processId, since } = state;
  return { name, kind, processId, since, state: how, isInInventory: isInInventory(context, state) };
}

function hostReport(
  { packages }: RemoteContext,
  { label, facts }: HostSession,
  specs: readonly HostSpec[],
  processes: readonly ProcessReport[],
): HostReport {
  const { hostname, nodeVersion, freeBytes, installs, commandVersion } = facts;
  const each = specs.map(({ source }) => {
    if (source.kind === 'command') return commandVersion !== '';
    const planned = packages?.of(source);
    return planned === undefined ? null : installs[planned.key] !== undefined;
  });
  const isKnown = each.includes(false) || !each.includes(null);
  const isInstalled = isKnown ? !each.includes(false) : null;
  return { host: label, ...{ hostname, nodeVersion, freeBytes, isInstalled, processes } };
}
