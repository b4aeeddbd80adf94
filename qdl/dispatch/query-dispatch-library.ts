import type { SystemUnderTest } from '../../shared/domain/system-under-test.ts';
import type { NetworkEvidence, NodeEvidence } from '../../shared/evidence/network-evidence.ts';
import type { ClaimBook } from '../../shared/evidence/node-claims.ts';
import type { BackPressureTimes } from './back-pressure.ts';
import type { RunLedgerCounter } from './run-ledger.ts';

/** What both ends counted, after the run. */
export interface LedgerReport {
  /** False when the run broke off, so that the counts need not agree. */
  readonly isCompared: boolean;
  /** Differences in words; empty when the two ends agree, and where only one end counts. */
  readonly differences: readonly string[];
}

/** What a node has to do at the moment, for those who look on. */
export interface NodeActivity {
  /** By itself; its address while it has not told one. */
  readonly name: string;
  /** Samples that are on the wire to it or that it has not answered. */
  readonly outstandingSamples: number;
  /** Samples that it answered since the run began, well or as failed. */
  readonly completedSamples: number;
  readonly failedSamples: number;
  readonly isLost: boolean;
}

/** Tells people what a node is doing while the QDL waits for it. */
export type WaitProgress = (address: string, what: string) => void;

/** A tensor that a model takes; ONNX's name of its element type, in lower case. */
export interface ModelInput {
  readonly name: string;
  readonly elementType: string;
  readonly shape: readonly number[];
}

/** One SUT node as all QDLs know it, whatever protocol it speaks. */
export interface QdlNode {
  readonly address: string;
  /** What this end counted for it. */
  readonly ledger: RunLedgerCounter;
  /** Inputs of the node's model as its Describe tells them, after `connect`: length per axis, 0 for a free one. Absent: not told. */
  readonly modelInputs?: readonly ModelInput[];
  /** What it said that cannot be. */
  readonly claims: ClaimBook;
  /** All that is known of the node, as plain values. */
  evidence(): NodeEvidence;
}

/**
 * The Query Dispatch Library: a {@link SystemUnderTest} whose work is done by SUT nodes on the other
 * side of a network. It forwards; it never batches, pads, caches, reorders, pre- or post-processes
 * (rule: inference_rules v4.1, Network division, QDL constraints). A query goes out as it is, alone,
 * in one part where it fits.
 *
 * Order of calls: `connect`, `name`, `start`, `issueQuery`..., `stop`, `ledgerReport`.
 */
export interface QueryDispatchLibrary extends SystemUnderTest {
  /** Random, the same on all streams of the run to all nodes. */
  readonly runId: string;
  /** In the order of the settings. */
  readonly nodes: readonly QdlNode[];
  /** How long queries waited in the QDL so far, and for what; nothing before `start`. */
  readonly backPressure: BackPressureTimes;
  /** The comparison made by `stop`. */
  readonly ledgerReport: LedgerReport;
  /**
   * Waits until every node is ready and checks that it fits the run. Untimed.
   * @throws MlperfError `ERR_SUT_UNREACHABLE`, `ERR_SUT_NOT_READY`, `ERR_SUT_REFUSED`
   */
  connect(onWait?: WaitProgress): Promise<void>;
  giveUp(): void;
  /** How busy each node is, in the order of the settings; a few reads each. */
  activity(): NodeActivity[];
  /** All that is known of the run over the network; resolves within a second, never rejects. */
  evidence(): Promise<NetworkEvidence>;
}
