import type { PayloadEncoding } from '../domain/query-sample-library.ts';
import type {
  Evidence,
  ledgerCounts,
  nameCall,
  nodeDescription,
  nodeEvidence,
  nodeLedger,
  nodeNameCall,
  oipDuration,
  oipEvidence,
  oipNodeEvidence,
  oipStatistics,
  streamEvidence,
} from './evidence-schema.ts';

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
export type NameCall = Evidence<typeof nameCall>;

/** One node's part in a call of Name(). */
export type NodeNameCall = Evidence<typeof nodeNameCall>;

/** Counts of one end for one node. A node's own may be any of 64 bits: above 2^53 they are rounded. */
export type LedgerCounts = Evidence<typeof ledgerCounts>;

/** The ledger of a SUT node. */
export type NodeLedger = Evidence<typeof nodeLedger>;

/** What a node chose for one stream (Opened). */
export type StreamEvidence = Evidence<typeof streamEvidence>;

/** What a node said of itself (Describe). */
export type NodeDescription = Evidence<typeof nodeDescription>;

/** All that is known of one node. */
export type NodeEvidence = Evidence<typeof nodeEvidence>;

/** Time that a server says it spent, over all requests of a run: a sum of lengths, and how many they are. */
export type OipDuration = Evidence<typeof oipDuration>;

/** What a server's own statistics of the model grew by during a run. */
export type OipStatistics = Evidence<typeof oipStatistics>;

/** What is known of a node that speaks the Open Inference Protocol, beside what all nodes have. */
export type OipNodeEvidence = Evidence<typeof oipNodeEvidence>;

/** What is known of a run over the Open Inference Protocol. */
export type OipEvidence = Evidence<typeof oipEvidence>;
