import type { Open__Output } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import type { Logger } from '../../../shared/base/process/logger.ts';
import { WARM_UP_FEATURE } from '../../../shared/wire/sut-contract.ts';
import { OpenStreams } from '../connection/stream-call.ts';
import type { RunLedger } from '../ledger/run-ledger.ts';
import { resourceExhausted, STREAM_OK, unavailable } from '../limits/call-end.ts';
import { INFER_CALLS_MAX } from '../limits/node-limits.ts';
import type { InferPeer, InferServices, StreamEnding } from './infer-services.ts';
import { InferStream } from './infer-stream.ts';

/** All Infer streams of the node. Knows only {@link InferPeer} of gRPC. */
export class InferStreams {
  readonly #streams = new OpenStreams<InferStream>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get count(): number {
    return this.#streams.size;
  }

  /**
   * Opens a stream for a peer; undefined if it was refused and ended with a status.
   * @param address Address of the peer, for the log.
   * @param services Undefined while the node does not serve; `why` is the reason for the peer.
   */
  open(
    peer: InferPeer,
    address: string,
    services: InferServices | undefined,
    why: string,
  ): InferStream | undefined {
    if (services === undefined) {
      peer.end(unavailable(why).end);
      return undefined;
    }
    if (this.#streams.size >= INFER_CALLS_MAX) {
      peer.end(resourceExhausted(`the node has ${INFER_CALLS_MAX} Infer calls already`).end);
      return undefined;
    }
    const stream = new InferStream(
      services,
      peer,
      (ended, end) => this.#remove(ended, end, address),
      (open) => this.#logOpened(open, address),
    );
    this.#streams.add(stream);
    return stream;
  }

  /** Drains all streams: they answer their samples. Resolves when the last one has ended. */
  async drain(reason: string): Promise<void> {
    for (const stream of this.#streams) stream.drain(reason);
    await this.#streams.empty();
  }

  /** Ends all streams now. */
  abort(reason: string): void {
    for (const stream of this.#streams) stream.abort(reason);
  }

  #logOpened(open: Open__Output, peer: string): void {
    const { runId: run, streamIndex: stream, encodings, features } = open;
    const forms = encodings.map(({ form, compression }) => `${form} ${compression || 'identity'}`);
    const what = features.includes(WARM_UP_FEATURE)
      ? 'a stream was opened for a warm-up'
      : 'a stream was opened';
    this.#logger.info({ peer, run, stream, encodings: forms }, what);
  }

  #remove(stream: InferStream, end: StreamEnding, peer: string): void {
    this.#streams.delete(stream);
    const { ledger, droppedCount: droppedSamples, reason } = end;
    const fields = { peer, run: ledger?.runId, droppedSamples };
    if (reason === STREAM_OK.details) this.#logger.info(fields, 'a stream was closed');
    else this.#logger.warn(fields, `a stream ended: ${reason}`);
    if (ledger?.openStreamCount === 0) this.#logger.info(countsOf(ledger), 'a run has ended');
  }
}

/** Counts of a run over all its streams, for the log. */
function countsOf(ledger: RunLedger): object {
  return {
    run: ledger.runId,
    streams: ledger.streamCount,
    queries: ledger.queryCount,
    samples: ledger.sampleCount,
    completed: ledger.completedCount,
    failed: ledger.failedCount,
    dropped: ledger.droppedCount,
    payloadBytes: ledger.payloadBytes,
    responseBytes: ledger.responseBytes,
  };
}
