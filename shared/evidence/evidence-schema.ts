import { z } from 'zod';
import type { DeepReadonly } from '../base/deep-readonly.ts';
import type { PayloadEncoding } from '../domain/system-under-test.ts';
import { OIP_ELEMENT_BYTES, type OipDataType } from '../domain/tensors.ts';
import { claimed, hostEvidence } from '../host/host-facts.ts';
import { CLAIM_KINDS } from './node-claims.ts';

/*
 * The evidence of a run over a network as `network_audit.json` holds it; its types are inferred
 * from here. Null stands for what is not known: a node of other make need not tell everything, and
 * a run may break off before everything was asked.
 */

/** Values of a schema, deeply read-only. */
export type Evidence<Schema extends z.ZodType> = DeepReadonly<z.infer<Schema>>;

/** The fields of an object that a schema names; the object may have more fields. */
export function fieldsOf<Key extends string, From extends Readonly<Record<Key, unknown>>>(
  { shape }: { readonly shape: Readonly<Record<Key, unknown>> },
  from: From,
): Pick<From, Key> {
  const keys = Object.keys(shape) as Key[];
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<From, Key>; // Those keys.
}

/** A count of this end. */
export const nonNegative = z.int().min(0);

/** Every setting of a node by name. */
export const settings = z.record(z.string(), z.string());
export const components = z.array(z.object({ name: z.string(), version: z.string() }));
/** How samples travel: form and lossless compression. */
export const encoding = z.object({ form: z.string(), compression: z.string() });

/**
 * Limits and effective HTTP/2 receive windows of a node, in bytes; 0 where not reported, above 2^53
 * rounded.
 */
const nodeLimits = z.object({
  messageBytesMax: claimed,
  partBytesMax: claimed,
  sampleBytesMax: claimed,
  querySamplesMax: claimed,
  streamWindowBytes: claimed,
  connectionWindowBytes: claimed,
});

/** Counts of one end, and the digest over the samples that were chosen for the digest. */
const counts = (number: z.ZodType<number>, digest: z.ZodType<string>) =>
  z.object({
    queryCount: number,
    /** Messages. */
    partCount: number,
    sampleCount: number,
    payloadBytes: number,
    completedCount: number,
    failedCount: number,
    responseBytes: number,
    /** Samples in `payloadDigest`. */
    digestedSampleCount: number,
    /** Lower-case hexadecimal; empty if the ends agreed on no digest (payload-digest.ts). */
    payloadDigest: digest,
  });

export const ledgerCounts = counts(
  nonNegative,
  z.string().regex(/^([0-9a-f]{64})?$/, 'must be 64 hexadecimal digits, or empty'),
);

export const nodeLedger = counts(
  claimed,
  z.string().regex(/^([0-9a-f]{2})*$/, 'must be hexadecimal digits, or empty'),
).extend({
  encodings: z.array(encoding),
  streamCount: nonNegative,
  /** Streams with the number of an earlier stream, because an Open was repeated. */
  repeatedStreamCount: nonNegative,
  /** Workers that ended and were replaced between the first stream and the last. */
  replacedWorkerCount: nonNegative,
  /** Samples that the node answered for other peers during the run, and their known addresses. */
  otherSampleCount: claimed,
  otherAddresses: z.array(z.string()),
});

export const socketEnds = z.object({
  localAddress: z.string(),
  localPort: nonNegative,
  remoteAddress: z.string(),
  remotePort: nonNegative,
});

export const header = z.object({
  /** Name in lower case. */
  name: z.string(),
  /** Empty if the value might be a secret. */
  value: z.string(),
});

export const callPath = z.object({
  /** The LoadGen node's socket. */
  loadgen: socketEnds.nullable(),
  /** The SUT node's socket, `local` being the node's side. */
  sut: socketEnds.nullable(),
  /** Headers of the request, as the SUT node received them. */
  requestHeaders: z.array(header).nullable(),
  /** Number of request headers that are not in the list. */
  requestHeadersLeftOut: nonNegative,
  /** Headers of the answer, as the LoadGen node received them. */
  responseHeaders: z.array(header),
});

const nodeNameCall = z.object({
  address: z.string(),
  /** Null if the node did not answer, or answered wrongly. */
  name: z.string().nullable(),
  identity: z.string().nullable(),
  /** Time from the request to the answer, which repeats the request's random number, in ns. */
  roundTripNs: nonNegative.nullable(),
  failure: z.string().nullable(),
  /** The call as both ends saw it; null when there was no answer. */
  path: callPath.nullable(),
  /**
   * Time of a plain TCP connect to the same address, beside the call of Name, in ns; null if the
   * connect timed out.
   */
  tcpConnectNs: nonNegative.nullable(),
  /** The IP address that the TCP connect reached. */
  remoteAddress: z.string().nullable(),
});

export const nameCall = z.object({
  /** Name that the call returned; null if the call failed. */
  name: z.string().nullable(),
  /** Why the call failed, in words; null if it did not fail. */
  failure: z.string().nullable(),
  /** Time until the last node had answered, in ns. */
  durationNs: nonNegative,
  /** In the order of the settings. */
  nodes: z.array(nodeNameCall),
});

export const nodeDescription = z.object({
  name: z.string(),
  nodeIdentity: z.string(),
  software: z.string(),
  softwareVersion: z.string(),
  components,
  protocolVersionMin: nonNegative,
  protocolVersionMax: nonNegative,
  features: z.array(z.string()),
  /** The node's model for the benchmark. */
  model: z.object({ name: z.string(), sha256: z.string(), isStandIn: z.boolean() }).nullable(),
  settings,
  host: hostEvidence.nullable(),
  limits: nodeLimits.nullable(),
});

export const streamEvidence = z.object({
  protocolVersion: nonNegative,
  nodeName: z.string(),
  nodeIdentity: z.string(),
  model: z.string(),
  features: z.array(z.string()),
  limits: nodeLimits.nullable(),
  /**
   * `checked`: the node does not compress its messages by gRPC; `unknown`: this could not be
   * checked.
   */
  compressionCheck: z.enum(['checked', 'unknown']),
  /** The call of the stream as both ends saw it. */
  path: callPath,
});

const datatype = z.enum(Object.keys(OIP_ELEMENT_BYTES) as [OipDataType, ...OipDataType[]]);
const tensors = z.array(z.object({ name: z.string(), datatype, shape: z.array(z.int()) }));

/** Growth of one of a server's own counters. The server may report any numbers. */
const serverTime = z.object({ count: z.number(), ns: z.number() });

/** Growth of a server's own statistics of the model during a run (Triton's ModelStatistics). */
const serverGrowth = z.object({
  /** Samples, and the batches that they were in. */
  inferenceCount: z.number(),
  executionCount: z.number(),
  success: serverTime,
  fail: serverTime,
  queue: serverTime,
  computeInput: serverTime,
  computeInfer: serverTime,
  computeOutput: serverTime,
});

const serverEvidence = z.object({
  serverName: z.string(),
  serverVersion: z.string(),
  extensions: z.array(z.string()),
  modelName: z.string(),
  modelVersions: z.array(z.string()),
  platform: z.string(),
  /** Digest of the model's file, if the server reports one. */
  modelSha256: z.string().optional(),
  inputs: tensors,
  /** Outputs; from the answer to a trial request if the metadata has none. */
  outputs: tensors,
  /**
   * Requests that were given to the connection, without warm-up. A request has one sample, or
   * several samples of one query. A complete run has sent all of them; a run that broke off may not
   * have sent the last ones.
   */
  requestCount: nonNegative,
  /** Trial requests before the run, which showed whether the server accepts the requests. */
  trialCount: nonNegative,
  /** Growth over the run; null if the server has no statistics, or did not report them. */
  statistics: serverGrowth.nullable(),
});

export const requestEvidence = z.object({
  /** gRPC's name of the service, or another protocol's name for the answering side. */
  service: z.string(),
  /** As OipRequestPlan; null where only names were requested. */
  plan: z
    .object({
      model: z.object({ name: z.string(), version: z.string() }),
      payloadForm: z.enum(['tensors', 'fields']),
      inputs: z.array(
        z.object({
          name: z.string(),
          datatype,
          sampleShape: z.array(nonNegative),
          sampleBytes: nonNegative,
        }),
      ),
      hasBatchAxis: z.boolean(),
      samplesPerRequest: z.int().min(1),
      outputs: tensors,
      /** The protocol's own name for the way that requests took. */
      method: z.string(),
    })
    .nullable(),
  /** Notes for people, for example on servers that share a name, or on failed trials. */
  notes: z.array(z.string()),
});

/**
 * Connections and streams that ended during a run and cost no sample, because another connection or
 * stream took over. The time that this took is in the latencies.
 */
const handOvers = z.object({
  /**
   * Connections that the other end gave up by plan (HTTP/2's GOAWAY without an error), or that were
   * lost with nothing outstanding.
   */
  connectionCount: nonNegative,
  /** Requests that were not yet processed when their connection ended, and were sent again. */
  callCount: nonNegative,
  /** Streams that ended with nothing outstanding, and were opened again. */
  streamCount: nonNegative,
  /** Why the last of these connections ended; empty: none ended. */
  connectionReason: z.string(),
  /** Why the last of these streams ended; empty: none ended. */
  streamReason: z.string(),
});

export const nodeEvidence = z.object({
  address: z.string(),
  /** Null: not asked, or the node has no Describe. */
  description: nodeDescription.nullable(),
  streams: z.array(streamEvidence),
  /** Share of the samples that both ends digest, in millionths; 0 if the node offers no digests. */
  digestPerMillion: nonNegative,
  ours: ledgerCounts,
  /** Null: not asked, or the node has no Ledger; `ledgerMissing` says which. */
  theirs: nodeLedger.nullable(),
  ledgerMissing: z.string().nullable(),
  /** Identity of the node that reported its counts; empty without them. */
  ledgerIdentity: z.string(),
  /** Differences between the counts of both ends; empty if they agree, or were not compared. */
  differences: z.array(z.string()),
  /** Claims of the node that cannot be true. */
  claims: z.array(z.object({ kind: z.enum(CLAIM_KINDS), count: nonNegative, text: z.string() })),
  /** Connections that carried queries to a server: the first call of each, as this end saw it. */
  queryPaths: z.exactOptional(z.array(callPath)),
  /** Absent: there were none. */
  handOvers: z.exactOptional(handOvers),
  /** Evidence of a server; absent for a SUT node of longhaul. */
  server: z.exactOptional(serverEvidence),
});

/**
 * Evidence of a run over a network, as plain values: the content of `network_audit.json`. Null
 * stands for what is not known: a node of other make need not tell everything, and a run may break
 * off before everything was asked.
 */
export interface NetworkEvidence {
  /** Random, the same on all streams of the run to all nodes. */
  readonly runId: string;
  /** Name of the protocol between LoadGen and SUT nodes. */
  readonly protocol: string;
  readonly division: 'network' | 'open';
  /** How every sample of the run travels. */
  readonly encoding: PayloadEncoding;
  /** Every setting of the QDL by name. */
  readonly settings: Readonly<Record<string, string>>;
  /** HTTP/2 receive window of the streams that the LoadGen node asks for, in bytes. */
  readonly receiveWindowBytes: number;
  /** Queries and samples that LoadGen handed to the QDL. */
  readonly issuedQueries: number;
  readonly issuedSamples: number;
  /** False when the run did not come to its end, so that the two ends need not agree. */
  readonly isComplete: boolean;
  /** All calls of LoadGen's Name(), in order. */
  readonly nameCalls: readonly NameCall[];
  /** In the order of the settings. */
  readonly nodes: readonly NodeEvidence[];
  /** Requests to servers; absent: the nodes are SUT nodes, or the protocol does not tell. */
  readonly server?: RequestEvidence;
}

/** One call of LoadGen's Name(). */
export type NameCall = Evidence<typeof nameCall>;

/** One node's part in a call of Name(). */
export type NodeNameCall = Evidence<typeof nodeNameCall>;

/**
 * Counts of one end for one node. A node may report any 64-bit counts; above 2^53 they are rounded.
 */
export type LedgerCounts = Evidence<typeof ledgerCounts>;

/** The ledger of a SUT node. */
export type NodeLedger = Evidence<typeof nodeLedger>;

/** Evidence of one stream: what the node chose in Opened. */
export type StreamEvidence = Evidence<typeof streamEvidence>;

/** Evidence of a node's Describe. */
export type NodeDescription = Evidence<typeof nodeDescription>;

/** Ends of connections and streams that cost no sample. */
export type HandOvers = Evidence<typeof handOvers>;

/** All that is known of one node. */
export type NodeEvidence = Evidence<typeof nodeEvidence>;

/**
 * Time that a server reports over all requests of a run: a sum of durations, and their number.
 */
export type ServerTime = Evidence<typeof serverTime>;

/** Growth of a server's own statistics of the model during a run. */
export type ServerGrowth = Evidence<typeof serverGrowth>;

/** Report of a server on itself and its model, and the number of requests that it got. */
export type ServerEvidence = Evidence<typeof serverEvidence>;

/** The service, the plan and notes of requests that go to servers. */
export type RequestEvidence = Evidence<typeof requestEvidence>;
