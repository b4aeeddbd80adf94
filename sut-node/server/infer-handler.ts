import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { Open__Output } from '../../proto/gen/mlperf/network/v1/Open.ts';
import type { Logger } from '../../shared/base/process/logger.ts';
import { callerOf, seenOf } from './guard/call-seen.ts';
import {
  type InferPeer,
  type InferServices,
  InferStream,
  type StreamEnding,
} from './infer-stream.ts';
import { type MessagePieces, receiveInPieces } from './message-pieces.ts';
import { INFER_CALLS_MAX } from './node-limits.ts';
import type { RunLedger } from './run-ledger.ts';
import { resourceExhausted, STREAM_OK, type StreamEnd, unavailable } from './stream-end.ts';

type InferCall = ServerDuplexStream<Buffer, Buffer>;

/** All Infer streams of the node. */
export class InferStreams {
  readonly #streams = new Set<InferStream>();
  readonly #logger: Logger;
  #whenEmpty: (() => void)[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get count(): number {
    return this.#streams.size;
  }

  /**
   * Serves a call.
   * @param services Undefined while the node does not serve; `why` says so to the peer.
   */
  handle(call: InferCall, services: InferServices | undefined, why: string): void {
    const peer = peerOf(call);
    if (services === undefined) {
      peer.end(unavailable(why).end);
      return;
    }
    if (this.#streams.size >= INFER_CALLS_MAX) {
      peer.end(resourceExhausted(`the node has ${INFER_CALLS_MAX} Infer calls already`).end);
      return;
    }
    // Once the peer is gone gRPC does not know any more who it was.
    const address = callerOf(call);
    const stream = new InferStream(
      services,
      peer,
      (ended, end) => this.#remove(ended, end, address),
      (open) => this.#logOpened(open, address),
    );
    this.#streams.add(stream);
    receiveInPieces(call, services.limits.receiveBytesMax, (end) => stream.breakOff(end));
    call.on('data', (message: Buffer | MessagePieces) => stream.message(message));
    call.on('end', () => stream.halfClosed());
    call.on('drain', () => stream.drained());
    call.on('cancelled', () => stream.cancelled());
  }

  /** Lets all streams end: they answer what they have. Resolves when the last one has ended. */
  async drain(reason: string): Promise<void> {
    for (const stream of this.#streams) stream.drain(reason);
    if (this.#streams.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenEmpty.push(resolve);
    });
  }

  /** Ends all streams now. */
  abort(reason: string): void {
    for (const stream of this.#streams) stream.abort(reason);
  }

  #logOpened(open: Open__Output, peer: string): void {
    const { runId: run, streamIndex: stream, encodings } = open;
    const forms = encodings.map(({ form, compression }) => `${form} ${compression || 'identity'}`);
    this.#logger.info({ peer, run, stream, encodings: forms }, 'a stream was opened');
  }

  #remove(stream: InferStream, end: StreamEnding, peer: string): void {
    this.#streams.delete(stream);
    const { ledger, droppedCount: droppedSamples, reason } = end;
    const fields = { peer, run: ledger?.runId, droppedSamples };
    if (reason === STREAM_OK.details) this.#logger.info(fields, 'a stream was closed');
    else this.#logger.warn(fields, `a stream ended: ${reason}`);
    if (ledger?.openStreamCount === 0) this.#logger.info(countsOf(ledger), 'a run has ended');
    if (this.#streams.size > 0) return;
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}

/** A run over all its streams, for the log. */
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

function peerOf(call: InferCall): InferPeer {
  return {
    seen: seenOf(call.metadata),
    write: (message) => call.write(message),
    end: (end: StreamEnd) => {
      if (end.code === 0) call.end();
      // grpc-js ends a stream with a status by this event, behind what was written.
      else call.emit('error', end);
    },
  };
}
