import { configInvalid, messageOf, sutNameError } from '../../shared/base/errors/mlperf-error.ts';
import { addressesBehind, NODE_NAME_LENGTH_MAX } from '../../shared/domain/node-address.ts';
import { NETWORK_SUT } from '../../shared/domain/system-under-test.ts';
import type { CallPath } from '../../shared/evidence/call-path.ts';
import type { NameCall, NodeNameCall } from '../../shared/evidence/evidence-schema.ts';
import { measureTcpConnect, type TcpConnect } from '../connect/call-path.ts';
import type { Division } from '../settings/dispatch-settings.ts';

/** Name of the SUT as LoadGen logs it, and each node's answer, in the order of the settings. */
export interface NetworkName {
  readonly name: string;
  readonly nodes: readonly NodeName[];
}

/** Takes the nodes' answers and returns them with distinct names. */
export type Distinguish = (names: readonly NodeName[]) => readonly NodeName[];

/**
 * LoadGen's Name() over the network. Every call asks every node, in parallel, uncached; the names
 * are joined in the order of the settings. Rule: "The Name method must not return until the round
 * trip is complete", "The QDL must query each SUT Node for its name and aggregate the responses",
 * "Each SUT Node must have a unique name".
 */
export class NetworkNames {
  readonly #clients: readonly NamedNode[];
  readonly #division: Division;
  readonly #distinguish: Distinguish;
  /** All calls; each resolves once the TCP connects made beside it have ended. */
  readonly #calls: Promise<NameCall>[] = [];
  #last: NetworkName | undefined;

  /**
   * @param division The open division allows a repeated name or node; the audit marks it.
   * @param distinguish Makes names unique, for servers whose names the submitter cannot choose.
   */
  constructor(
    clients: readonly NamedNode[],
    division: Division,
    distinguish: Distinguish = (names) => names,
  ) {
    this.#clients = clients;
    this.#division = division;
    this.#distinguish = distinguish;
  }

  /** Result of the last call that succeeded. */
  get last(): NetworkName | undefined {
    return this.#last;
  }

  /**
   * Asks all nodes.
   * @throws MlperfError of the first node, in the order of the settings, that does not answer;
   *   `ERR_SUT_NAME` for an empty or a repeated name, or one node behind two addresses.
   */
  async ask(): Promise<string> {
    const begin = performance.now();
    const asked = this.#clients.map((client) => client.name());
    const connects = this.#clients.map(({ address }) => measureTcpConnect(address));
    const answers = this.#distinguished(await Promise.allSettled(asked));
    const durationNs = Math.round((performance.now() - begin) * 1e6);
    const keep = (name: string | null, failure: string | null): void => {
      const nodes = Promise.all(
        this.#clients.map(async ({ address }, i) => ({
          // In range: one per client.
          ...nodeCallOf(address, answers[i] as PromiseSettledResult<NodeName>),
          ...tcpTimesOf(await (connects[i] as Promise<TcpConnect>)),
        })),
      );
      this.#calls.push(nodes.then((all) => ({ name, failure, durationNs, nodes: all })));
    };
    try {
      const named = answers.map((answer) => {
        if (answer.status === 'rejected') throw answer.reason;
        return answer.value;
      });
      const name = joinNames(named, this.#division);
      this.#last = { name, nodes: named };
      keep(name, null);
      return name;
    } catch (error) {
      keep(null, messageOf(error));
      throw error;
    }
  }

  /** The answers, with names made unique. */
  #distinguished(
    answers: readonly PromiseSettledResult<NodeName>[],
  ): readonly PromiseSettledResult<NodeName>[] {
    const given = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const unique = new Map(this.#distinguish(given).map((one) => [one.address, one]));
    return answers.map((one) =>
      one.status === 'rejected'
        ? one
        : { ...one, value: unique.get(one.value.address) ?? one.value },
    );
  }

  /**
   * All calls so far, once the TCP connects beside them have ended: within a second. Never rejects.
   */
  calls(): Promise<NameCall[]> {
    return Promise.all(this.#calls);
  }
}

/**
 * Asks nodes for their names once, outside a run, and closes their connections.
 * @param check Further check of the answers.
 * @throws MlperfError as {@link NetworkNames.ask}
 */
export async function askOnce(
  clients: readonly (NamedNode & { close(): void })[],
  names: NetworkNames,
  check: () => Promise<void> = async () => {},
): Promise<NameCall> {
  try {
    await names.ask();
    await check();
    return (await names.calls())[0] as NameCall; // In range: one call was made.
  } finally {
    for (const client of clients) client.close();
  }
}

/** @throws MlperfError `ERR_SUT_NAME` */
function joinNames(nodes: readonly NodeName[], division: Division): string {
  if (division === 'network') {
    refuseEqual(
      nodes,
      (node) => node.identity,
      (a, b) =>
        `the addresses ${a.address} and ${b.address} lead to one SUT node, "${a.name}"; name each node once`,
    );
    refuseEqual(
      nodes,
      (node) => node.name,
      (a, b) =>
        `the SUT nodes ${a.address} and ${b.address} have the same name "${a.name}"; ` +
        'each node needs a name of its own (longhaul sut --node NAME)',
    );
  }
  return `${NETWORK_SUT}: ${nodes.map((node) => node.name).join(', ')}`;
}

function refuseEqual(
  nodes: readonly NodeName[],
  keyOf: (node: NodeName) => string,
  message: (first: NodeName, second: NodeName) => string,
): void {
  const seen = new Map<string, NodeName>();
  for (const node of nodes) {
    const key = keyOf(node);
    const first = seen.get(key);
    // Nodes of other software may have no identity; then only the name identifies them.
    if (first !== undefined && key !== '') throw sutNameError(message(first, node));
    seen.set(key, node);
  }
}

function tcpTimesOf({ connectNs, remoteAddress }: TcpConnect) {
  return { tcpConnectNs: connectNs, remoteAddress };
}

function nodeCallOf(
  address: string,
  answer: PromiseSettledResult<NodeName>,
): Omit<NodeNameCall, keyof ReturnType<typeof tcpTimesOf>> {
  if (answer.status === 'rejected') {
    const failure = messageOf(answer.reason);
    return { address, name: null, identity: null, roundTripNs: null, failure, path: null };
  }
  const { name, identity, roundTripNs, path } = answer.value;
  return { address, name, identity, roundTripNs, failure: null, path };
}

/** A node's name and the round trip of the call. */
export interface NodeName {
  readonly address: string;
  readonly name: string;
  /** Identity of the node's process; empty if it has none. */
  readonly identity: string;
  readonly roundTripNs: number;
  /** The call as both ends saw it. */
  readonly path: CallPath;
}

/** A node that can be asked for its name. */
export interface NamedNode {
  readonly address: string;
  /** Asks for the name: one full round trip, uncached. @throws MlperfError */
  name(): Promise<NodeName>;
}

/**
 * Refuses a name that is not one printable log line.
 * @param method Method that returned the name.
 * @throws MlperfError `ERR_SUT_NAME`
 */
export function requirePrintableName(address: string, method: string, name: string): void {
  if (name.length <= NODE_NAME_LENGTH_MAX && !/\p{Cc}/u.test(name)) return;
  throw sutNameError(
    `SUT node ${address} answers ${method} with control characters or more than ${NODE_NAME_LENGTH_MAX} characters`,
  );
}

/**
 * Addresses of the SUT nodes; `dns:///name:port` becomes one address per machine behind the name.
 * Resolved once, before the run, so the nodes are fixed.
 * @throws MlperfError `ERR_SUT_UNREACHABLE` for an unknown name, `ERR_CONFIG_INVALID` for a
 * repeated address.
 */
export async function resolveNodeAddresses(named: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(named.map(addressesBehind));
  const addresses = lists.flat();
  const twice = addresses.find((address, i) => addresses.indexOf(address) !== i);
  if (twice !== undefined) {
    throw configInvalid(`--sut leads to the address ${twice} twice`);
  }
  return addresses;
}

/** `text`, which begins with a node's address, with the node's name put before the address. */
export function withNodeName(
  text: string,
  nodes: readonly Pick<NodeName, 'address' | 'name'>[],
): string {
  const [head = '', address] = /^SUT node (\S+?)(?=:? )/.exec(text) ?? [];
  const name = nodes.find((node) => node.address === address)?.name;
  if (address === undefined || name === undefined || name.includes(address)) return text;
  return `SUT node ${name} at ${address}${text.slice(head.length)}`;
}

/**
 * Distinct names of servers: a server's own name if it is unique, otherwise with its address added.
 * Servers of one fleet often share a name that only their operator can change. Rule:
 * inference_rules v4.1, Network division, "Each SUT Node must have a unique name".
 * @param note Called once per cause.
 */
export function distinguishByAddress(note: (text: string) => void): Distinguish {
  const told = new Set<string>();
  const tell = (text: string): void => {
    if (!told.has(text)) note(text);
    told.add(text);
  };
  return (names) => {
    const sharing = new Map<string, NodeName[]>();
    for (const one of names) sharing.set(one.name, [...(sharing.get(one.name) ?? []), one]);
    return names.map((one) => {
      const { name, address } = one;
      if (name.trim() === '') {
        tell(`the server at ${address} reports no name; it is listed by its address`);
        return { ...one, name: address };
      }
      const others = sharing.get(name) as readonly NodeName[]; // The map holds every name.
      if (others.length === 1) return one;
      const addresses = others.map((other) => other.address).join(', ');
      tell(
        `the servers at ${addresses} share the name "${name}"; the address was added to tell them apart`,
      );
      return { ...one, name: `${name} (${address})` };
    });
  };
}
