import type { PayloadEncoding } from '../domain/query-sample-library.ts';
import type { HostEvidence } from '../host/host-facts.ts';
import type { CallPath } from './call-path.ts';
import type { NodeClaim } from './node-claims.ts';
import type { OipEvidence, OipNodeEvidence } from './oip-evidence.ts';

/**
 * What a QDL knows of a run over a network, as plain values: the ground of `network_audit.json`.
 * Null stands for what is not known: a node of other make need not tell everything, and a run may break
 * off before everything was asked.
 */
export interface NetworkEvidence {
  /** Random, the same on all streams of the run to all nodes. */
  readonly runId: string;
  readonly division: 'network' | 'open';
  /** How every sample of the run travels. */
  readonly encoding: PayloadEncoding;
  /** Every setting of the QDL by name. */
  readonly settings: Readonly<Record<string, string>>;
  /** HTTP/2 receive window of the streams that the LoadGen node asks for, in bytes. */
  readonly receiveWindowBytes: number;
  /** What LoadGen handed to the QDL. */
  readonly issuedQueries: number;
  readonly issuedSamples: number;
  /** False when the run did not come to its end, so that the two ends need not agree. */
  readonly isComplete: boolean;
  /** All calls of LoadGen's Name(), in order. */
  readonly nameCalls: readonly NameCall[];
  /** In the order of the settings. */
  readonly nodes: readonly NodeEvidence[];
  /** Set where the run spoke the Open Inference Protocol: what that cannot show, no node tells. */
  readonly oip?: OipEvidence;
}

/** One call of LoadGen's Name(). */
export interface NameCall {
  /** What the call returned; null when it failed. */
  readonly name: string | null;
  /** Why it failed, in words; null when it did not. */
  readonly failure: string | null;
  /** Until the last node had answered, in ns. */
  readonly durationNs: number;
  /** What every node said, in the order of the settings. */
  readonly nodes: readonly NodeNameCall[];
}

/** One node's part in a call of Name(). */
export interface NodeNameCall {
  readonly address: string;
  /** Null when the node did not answer, or not as it should. */
  readonly name: string | null;
  readonly identity: string | null;
  /** From the question to the answer, which repeats the question's random number, in ns. */
  readonly roundTripNs: number | null;
  readonly failure: string | null;
  /** The call as both ends saw it; null when there was no answer. */
  readonly path: CallPath | null;
  /**
   * Time of a plain TCP connect to the same address, measured beside the question, in ns; null when
   * none came about in time.
   */
  readonly tcpConnectNs: number | null;
  /** The IP address that the TCP connect reached. */
  readonly remoteAddress: string | null;
}

/** Counts of one end for one node. A node's own may be any of 64 bits: above 2^53 they are rounded. */
export interface LedgerCounts {
  readonly queryCount: number;
  /** Messages. */
  readonly partCount: number;
  readonly sampleCount: number;
  readonly payloadBytes: number;
  readonly completedCount: number;
  readonly failedCount: number;
  readonly responseBytes: number;
  /** Samples in `payloadDigest`. */
  readonly digestedSampleCount: number;
  /** Lower-case hexadecimal; empty where no digest was agreed on (payload-digest.ts). A node's own may have any length. */
  readonly payloadDigest: string;
}

/** The ledger of a SUT node. */
export interface NodeLedger extends LedgerCounts {
  readonly encodings: readonly PayloadEncoding[];
  readonly streamCount: number;
  /** Of them those with the number of an earlier one: an Open that was repeated. */
  readonly repeatedStreamCount: number;
  /** Workers that ended and were replaced between the first stream and the last; absent from files of older builds. */
  readonly replacedWorkerCount?: number;
}

/** Limits and effective HTTP/2 receive windows of a node, in bytes; 0 where it tells none, above 2^53 rounded. */
export interface NodeLimitsEvidence {
  readonly messageBytesMax: number;
  readonly partBytesMax: number;
  readonly sampleBytesMax: number;
  readonly querySamplesMax: number;
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
}

/** What a node chose for one stream (Opened). */
export interface StreamEvidence {
  readonly protocolVersion: number;
  readonly nodeName: string;
  readonly nodeIdentity: string;
  readonly model: string;
  readonly features: readonly string[];
  readonly limits: NodeLimitsEvidence | null;
  /** `checked`: the node does not compress its messages by gRPC; `unknown`: this could not be looked at. */
  readonly compressionCheck: 'checked' | 'unknown';
  /** Its call as both ends saw it. */
  readonly path: CallPath;
}

/** What a node said of itself (Describe). */
export interface NodeDescription {
  readonly name: string;
  readonly nodeIdentity: string;
  readonly software: string;
  readonly softwareVersion: string;
  readonly components: readonly { readonly name: string; readonly version: string }[];
  readonly protocolVersionMin: number;
  readonly protocolVersionMax: number;
  readonly features: readonly string[];
  /** The node's model for the benchmark; null where it tells none. */
  readonly model: {
    readonly name: string;
    readonly sha256: string;
    readonly isStandIn: boolean;
  } | null;
  /** Every setting of the node by name. */
  readonly settings: Readonly<Record<string, string>>;
  readonly host: HostEvidence | null;
  readonly limits: NodeLimitsEvidence | null;
}

/** All that is known of one node. */
export interface NodeEvidence {
  readonly address: string;
  /** Null: not asked, or the node has no Describe. */
  readonly description: NodeDescription | null;
  readonly streams: readonly StreamEvidence[];
  /** Samples that both ends digest, in millionths; 0 where the node offers no digests. */
  readonly digestPerMillion: number;
  readonly ours: LedgerCounts;
  /** Null: not asked, or the node has no Ledger; `ledgerMissing` says which. */
  readonly theirs: NodeLedger | null;
  readonly ledgerMissing: string | null;
  /** Identity of the node whose ledger was told; empty where nobody told one. */
  readonly ledgerIdentity: string;
  /** What the node said that cannot be; absent from files of older builds. */
  readonly claims?: readonly NodeClaim[];
  /** Differences between the two in words; empty when they agree, or were not compared. */
  readonly differences: readonly string[];
  /** The connections that carried queries of the Open Inference Protocol: the first call of each, as this end saw it. */
  readonly queryPaths?: readonly CallPath[];
  /** Of a node that speaks the Open Inference Protocol. */
  readonly oip?: OipNodeEvidence;
}
