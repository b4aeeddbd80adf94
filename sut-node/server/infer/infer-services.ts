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

/** The other end of the stream, as gRPC shows it. */
export interface InferPeer extends Pick<StreamPeer, 'write' | 'end'> {
  /** The call as the node sees it; null where it was not recorded. */
  readonly seen: CallSeen | null;
}

/** Queue of the samples of a stream. */
export type StreamBatcher = Pick<DynamicBatcher, 'add' | 'dispatch' | 'removeOwner'>;

/** Services that the streams share. */
export interface InferServices extends Pick<NodeFacts, 'name' | 'identity' | 'offer'> {
  /** Tells the encodings of the offer that the model, which is loaded by now, reads. */
  isRead(encoding: PayloadEncoding): boolean;
  readonly limits: InferLimits;
  readonly credits: Pick<CreditBook, 'open'>;
  readonly ledgers: Pick<RunLedgers, 'apart' | 'check' | 'open'>;
  readonly batcher: StreamBatcher;
  /** Answers the samples of a warm-up, without the model. */
  readonly warmUpBatcher: StreamBatcher;
  readonly clock: Clock;
  /** Processor time and memory of the node, for streams that ask for it. */
  readonly usage: Pick<UsageReports, 'listen'>;
  /** Told of the durations of every answered sample, where metrics are requested. */
  readonly observe?: ((durations: ServiceTimes) => void) | undefined;
  /** Limits as the wire tells them. */
  wireLimits(): NodeLimits;
}

/** How a stream ended, for the operating log. */
export interface StreamEnding {
  /** Ledger of the stream's run, over all its streams; undefined before Open. */
  readonly ledger: RunLedger | undefined;
  /** Samples that were accepted and got no answer. */
  readonly droppedCount: number;
  readonly reason: string;
}
