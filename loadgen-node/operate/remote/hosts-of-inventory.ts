import { orAbort, type RunHost } from '../../run/host/host.ts';
import { allOrErrors, type HostSession, openSession } from './host-session.ts';
import type { HostLink, OpenLink } from './hosts/host-link.ts';
import { type HostSpec, hostKey, type Inventory } from './inventory/inventory.ts';
import type { Packages } from './packages/plan-packages.ts';

/** What the steps of every verb share. */
export interface RemoteContext {
  readonly inventory: Inventory;
  /** Undefined where nothing is installed, or it is not known what would be. */
  readonly packages: Packages | undefined;
  readonly openLink: OpenLink;
  /** Takes what was done; the reason of its abort is thrown. */
  readonly host: RunHost;
}

/** Reports something of one host of the inventory. */
export function reportOf(
  { host }: Pick<RemoteContext, 'host'>,
  { label }: Pick<HostSession, 'label'>,
  text: string,
): void {
  host.report(`[${label}] ${text}`);
}

/** Of the verbs that install. */
export interface InstallContext extends RemoteContext {
  readonly packages: Packages;
}

/** The hosts of an inventory, each with one connection, however many entries name it. */
export class Hosts {
  readonly #sessions = new Map<string, HostSession>();
  readonly #links: HostLink[] = [];
  readonly #context: RemoteContext;

  constructor(context: RemoteContext) {
    this.#context = context;
  }

  /** Every entry of the inventory, LoadGen's first. */
  get specs(): HostSpec[] {
    const { loadgen, nodes } = this.#context.inventory;
    return [loadgen, ...nodes.map(({ host }) => host)];
  }

  get sessions(): HostSession[] {
    return [...this.#sessions.values()];
  }

  /** Reaches all hosts at once. @throws MlperfError `ERR_HOST` with a line for each that cannot be used */
  async connect(): Promise<void> {
    await this.connectEach(() => Promise.resolve());
  }

  /**
   * Reaches all hosts at once, and does something with each as soon as it is reached: one that does not answer keeps no other waiting.
   * @param work Given a host and the entries that name it.
   * @throws MlperfError `ERR_HOST` with a line for each that cannot be used, after the work on the others
   */
  async connectEach<T>(
    work: (session: HostSession, specs: readonly HostSpec[]) => Promise<T>,
  ): Promise<T[]> {
    const working = [...groupBy(this.specs, hostKey)].map(async ([key, specs]) => {
      const [spec] = specs as [HostSpec];
      const session = await openSession(spec, this.#context.openLink, (link) => {
        this.#links.push(link);
      });
      this.#sessions.set(key, session);
      return await work(session, specs);
    });
    return await orAbort(this.#context.host, allOrErrors(working));
  }

  /** A host that was reached. */
  of(spec: HostSpec): HostSession {
    const session = this.#sessions.get(hostKey(spec));
    if (session === undefined) throw new Error(`no session with ${hostKey(spec)}`);
    return session;
  }

  /** Ends all connections; what is held by them is stopped by the agents. */
  async close(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.close()));
  }
}

/** What belongs together, in the order of the first of each. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}
