import type { NetworkEvidence, NodeEvidence, ServerEvidence } from './evidence-schema.ts';

/** Name of a run's protocol, and how its requests were sent to servers. */
export type ProtocolEvidence = Pick<NetworkEvidence, 'protocol' | 'server'>;

/** A node that is a server, not a SUT node of longhaul. */
export type ServerNode = ServerEvidence & Pick<NodeEvidence, 'address'>;

/** The nodes that are servers. */
export function serversOf(nodes: readonly NodeEvidence[]): ServerNode[] {
  return nodes.flatMap(({ address, server }) =>
    server === undefined ? [] : [{ address, ...server }],
  );
}

/** Name and version of a server's software; empty where it reports none. */
export function softwareOf(server: ServerEvidence | undefined): string {
  return [server?.serverName, server?.serverVersion].filter(Boolean).join(' ');
}

/** Name and versions of a server's model, each after a space. */
export function modelOf(server: ServerEvidence | undefined): string {
  return [server?.modelName, ...(server?.modelVersions ?? [])].join(' ');
}
