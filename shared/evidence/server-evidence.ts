import type { NetworkEvidence, NodeEvidence } from './evidence-schema.ts';

/** What a server reports of itself and its model, and how many requests it got. */
export type ServerEvidence = NonNullable<NodeEvidence['oip']>;

/** The service, the plan and notes of requests that go to servers. */
export type RequestEvidence = NonNullable<NetworkEvidence['oip']>;

/** What a node reports as a server; undefined for a SUT node of longhaul, and where nothing was asked. */
export function serverOf({ oip }: Pick<NodeEvidence, 'oip'>): ServerEvidence | undefined {
  return oip;
}

/** How the requests of a run went to servers; null where no server was asked. */
export function requestsTo({
  oip,
}: {
  readonly oip?: RequestEvidence | null;
}): RequestEvidence | null {
  return oip ?? null;
}
