import type {
  NetworkEvidence,
  NodeEvidence,
  RequestEvidence,
  ServerEvidence,
} from './evidence-schema.ts';

/** Name of a run's protocol, and how its requests went to servers. */
export type ProtocolEvidence = Pick<NetworkEvidence, 'protocol' | 'oip'>;

/** Report of a node as a server; undefined for a SUT node of longhaul, and where nothing was asked. */
export function serverOf(node: Pick<NodeEvidence, 'oip'>): ServerEvidence | undefined {
  return node.oip;
}

/** A node that is a server. */
export type ServerNode = ServerEvidence & Pick<NodeEvidence, 'address'>;

/** The nodes that are servers. */
export function serversOf(nodes: readonly NodeEvidence[]): ServerNode[] {
  return nodes.flatMap(({ address, oip }) => (oip === undefined ? [] : [{ address, ...oip }]));
}

/** How the requests of a run went to servers; null where no server was asked. */
export function requestsTo(run: { readonly oip?: RequestEvidence | null }): RequestEvidence | null {
  return run.oip ?? null;
}

/** Name and version of a server's software; empty where it reports none. */
export function softwareOf(server: ServerEvidence | undefined): string {
  return [server?.serverName, server?.serverVersion].filter(Boolean).join(' ');
}

/** Name and versions of a server's model, each after a space. */
export function modelOf(server: ServerEvidence | undefined): string {
  return [server?.modelName, ...(server?.modelVersions ?? [])].join(' ');
}
