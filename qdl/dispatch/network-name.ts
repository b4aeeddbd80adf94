import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { messageOf } from '../../shared/base/errors/to-mlperf-error.ts';
import { NETWORK_SUT } from '../../shared/domain/system-under-test.ts';
import type { NameCall, NodeNameCall } from '../../shared/evidence/network-evidence.ts';
import type { NamedNode, NodeName } from '../connect/node-name.ts';
import {
  measureTcpConnect,
  TCP_CONNECT_TIMEOUT_MS,
  type TcpConnect,
} from '../connect/tcp-connect.ts';
import type { Division } from '../settings/dispatch-settings.ts';

/** Name of the SUT as LoadGen logs it, and what each node said, in the order of the settings. */
export interface NetworkName {
  readonly name: string;
  readonly nodes: readonly NodeName[];
}

/** Takes what nodes answered, and returns it with the names that they are known by. */
export type Distinguish = (names: readonly NodeName[]) => readonly NodeName[];

/** A call as it is kept: the TCP connects may still be under way. */
interface KeptCall {
  readonly call: Omit<NameCall, 'nodes'>;
  readonly nodes: readonly Omit<NodeNameCall, keyof TcpTimes>[];
  readonly connects: readonly Promise<TcpConnect>[];
}

type TcpTimes = Pick<NodeNameCall, 'tcpConnectNs' | 'remoteAddress'>;

/**
 * LoadGen's Name() over the network. Every call asks every node, in parallel; nothing is cached; the
 * answers are joined in the order of the settings.
 * Rule: "The Name method must not return until the round trip is complete", "The QDL must query each
 * SUT Node for its name and aggregate the responses", "Each SUT Node must have a unique name".
 */
export class NetworkNames {
  readonly #clients: readonly NamedNode[];
  readonly #division: Division;
  readonly #distinguish: Distinguish;
  readonly #kept: KeptCall[] = [];
  #last: NetworkName | undefined;

  /**
   * @param division In the open division a repeated name or node is allowed; the audit marks it.
   * @param distinguish For nodes whose names are not theirs to choose: makes them unique.
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

  /** What the last call that succeeded returned. */
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
    const connects = this.#clients.map(({ address }) =>
      measureTcpConnect(address, TCP_CONNECT_TIMEOUT_MS),
    );
    const answers = this.#distinguished(await Promise.allSettled(asked));
    const durationNs = Math.round((performance.now() - begin) * 1e6);
    const nodes = answers.map((answer, i) => nodeCallOf(this.#clients[i]?.address ?? '', answer));
    const keep = (name: string | null, failure: string | null): void => {
      this.#kept.push({ call: { name, failure, durationNs }, nodes, connects });
    };
    try {
      const named = answers.map(nameOf);
      const name = joinNames(named, this.#division);
      this.#last = { name, nodes: named };
      keep(name, null);
      return name;
    } catch (error) {
      keep(null, messageOf(error));
      throw error;
    }
  }

  /** The answers, those that are names made unique. */
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

  /** All calls so far, once the TCP connects beside them have ended: within a second. Never rejects. */
  calls(): Promise<NameCall[]> {
    return Promise.all(
      this.#kept.map(async ({ call, nodes, connects }) => {
        const ended = await Promise.all(connects);
        return {
          ...call,
          nodes: nodes.map((node, i) => ({
            ...node,
            tcpConnectNs: ended[i]?.connectNs ?? null,
            remoteAddress: ended[i]?.remoteAddress ?? null,
          })),
        };
      }),
    );
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
    // A node of other make may have no identity; then only its name tells it apart.
    if (first !== undefined && key !== '')
      throw new MlperfError('ERR_SUT_NAME', message(first, node));
    seen.set(key, node);
  }
}

function nameOf(answer: PromiseSettledResult<NodeName>): NodeName {
  if (answer.status === 'rejected') throw answer.reason;
  return answer.value;
}

function nodeCallOf(
  address: string,
  answer: PromiseSettledResult<NodeName>,
): KeptCall['nodes'][number] {
  if (answer.status === 'rejected') {
    const failure = messageOf(answer.reason);
    return { address, name: null, identity: null, roundTripNs: null, failure, path: null };
  }
  const { name, identity, roundTripNs, path } = answer.value;
  return { address, name, identity, roundTripNs, failure: null, path };
}
