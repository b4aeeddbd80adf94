import { MlperfError } from '../shared/errors/mlperf-error.ts';
import type { ControlClient, NodeName } from './node/control-client.ts';

/** Substring that the name must contain. Rule: inference_rules v4.1, Network division, QDL constraints. */
const NETWORK_SUT = 'Network SUT';

/** Name of the SUT as LoadGen logs it, and what each node said. */
export interface NetworkName {
  readonly name: string;
  /** In the order of the settings. */
  readonly nodes: readonly NodeName[];
}

/**
 * Asks every node for its name, in parallel, and joins the answers in the order of the addresses.
 * Rule: "The Name method must not return until the round trip is complete", "The QDL must query each
 * SUT Node for its name and aggregate the responses", "Each SUT Node must have a unique name".
 *
 * @throws MlperfError of the first node that does not answer; `ERR_SUT_NAME` for an empty or a
 *   repeated name, or one node behind two addresses.
 */
export async function askNetworkName(clients: readonly ControlClient[]): Promise<NetworkName> {
  const nodes = await Promise.all(clients.map((client) => client.name()));
  refuseEqual(
    nodes,
    (node) => node.name,
    (a, b) =>
      `the SUT nodes ${a.address} and ${b.address} have the same name "${a.name}"; ` +
      'each node needs a name of its own (longhaul sut --node NAME)',
  );
  refuseEqual(
    nodes,
    (node) => node.identity,
    (a, b) =>
      `the addresses ${a.address} and ${b.address} lead to one SUT node, "${a.name}"; name each node once`,
  );
  return { name: `${NETWORK_SUT}: ${nodes.map((node) => node.name).join(', ')}`, nodes };
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
