/** What is looked at of a node. */
interface NodeIdentities {
  readonly address: string;
  /** Identities that the node gave in Describe and on its streams. */
  readonly identities: ReadonlySet<string>;
}

/**
 * Why a node's ledger says nothing about what went to its address; undefined where it does. The Network
 * division refuses both cases before the run; the open division allows and marks them.
 */
export function ledgerObstacle(
  node: NodeIdentities,
  nodes: readonly NodeIdentities[],
): string | undefined {
  if (node.identities.size > 1) return 'its address leads to several SUT nodes';
  const twin = nodes.find(
    (other) => other !== node && [...other.identities].some((one) => node.identities.has(one)),
  );
  return twin === undefined ? undefined : `${twin.address} leads to the same SUT node`;
}
