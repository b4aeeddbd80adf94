import type { CallSeen } from '../../../proto/gen/mlperf/network/v1/CallSeen.ts';
import type { NodeLimits } from '../../../proto/gen/mlperf/network/v1/NodeLimits.ts';
import type { Clock } from '../../../shared/base/clock.ts';
import type { PayloadEncoding, ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import type { DynamicBatcher } from '../../inference/batcher/dynamic-batcher.ts';
import type { StreamPeer } from '../connection/stream-call.ts';
import type { NodeFacts } from '../describe/node-offer.ts';
import type { CreditBook } from '../ledger/credit-book.ts';
import type { RunLedger, RunLedgers } from '../ledger/run-ledger.ts';
import type { InferLimits } from '../limits/node-limits.ts';
import type { UsageReports } from './usage-reports.ts';

/** The peer of the stream, through gRPC. */
export interface InferPeer extends Pick<StreamPeer, 'write' | 'end'> {
  /** The node's view of the call; null if it was not recorded. */
  readonly seen: CallSeen | null;
}

/** Queue for the samples of a stream. */
export type StreamBatcher = Pick<DynamicBatcher, 'add' | 'dispatch' | 'removeOwner'>;

/** Services shared by the streams. */
export interface InferServices extends Pick<NodeFacts, 'name' | 'identity' | 'offer'> {
  /** True for an offered encoding that the loaded model reads. */
  isRead(encoding: PayloadEncoding): boolean;
  readonly limits: InferLimits;
  readonly credits: Pick<CreditBook, 'open'>;
  readonly ledgers: Pick<RunLedgers, 'apart' | 'check' | 'open'>;
  readonly batcher: StreamBatcher;
  /** Answers the samples of a warm-up, without the model. */
  readonly warmUpBatcher: StreamBatcher;
  readonly clock: Clock;
  /** CPU and memory reports of the node, for streams that request them. */
  readonly usage: Pick<UsageReports, 'listen'>;
  /** Called with the durations of every answered sample, if metrics are requested. */
  readonly observe?: ((durations: ServiceTimes) => void) | undefined;
  /** Limits in the wire's form. */
  wireLimits(): NodeLimits;
}

/** How a stream ended, for the operating log. */
export interface StreamEnding {
  /** Ledger of the stream's run, over all its streams; undefined before Open. */
  readonly ledger: RunLedger | undefined;
  /** Accepted samples without an answer. */
  readonly droppedCount: number;
  readonly reason: string;
}
