import assert from 'node:assert';
import { status } from '@grpc/grpc-js';
import {
  type BorrowedBytes,
  NO_BYTES,
  ReusedBuffers,
  readInPlace,
} from '../../../../shared/base/bytes/borrowed-bytes.ts';
import type { SamplePayloads } from '../../../../shared/domain/system-under-test.ts';
import { AnswerRoom } from '../../../../shared/http2/flow-control.ts';
import { MESSAGE_HEAD_BYTES } from '../../../../shared/http2/unsent-messages.ts';
import type { PartToWrite } from '../../../../shared/wire/part-codec.ts';
import { INFER_METHOD } from '../../../../shared/wire/sut-contract.ts';
import { connectGrpc } from '../../../http2/connect-grpc.ts';
import {
  type CallEvents,
  type ConnectionEvents,
  type GrpcCall,
  type GrpcCallConnection,
  headersOf,
  type ResponseHead,
} from '../../../http2/grpc-calls.ts';
import { type DispatchSettings, WAITING_BYTES_MAX } from '../../../settings/dispatch-settings.ts';
import { frameSize, gatheredSize, gatherFrames } from './part-frames.ts';
import type { PartTransport, TransportEnd, TransportEvents } from './part-transport.ts';
import type { SentPart } from './sent-part.ts';

/**
 * Parts are joined into one write up to this size, bytes: above it a write costs little per byte.
 */
const JOINED_BYTES_MAX: number = 128 * 1024;

/** Writes in flight: one that the socket takes, and one ready after it. */
const WRITES_IN_FLIGHT_MAX = 2;

/** Sent parts kept at the front of the list, at most. */
const SENT_PARTS_MAX = 1024;

/**
 * An Infer stream on longhaul's own HTTP/2 connection.
 *
 * Parts wait here as numbers until the socket can take a write. All parts waiting then go out
 * together, each as its own message, so no part waits for another.
 */
export class Http2Transport implements PartTransport, CallEvents {
  readonly #call: GrpcCall;
  readonly #payloads: SamplePayloads;
  readonly #events: TransportEvents;
  #parts: SentPart[] = [];
  /** Index of the first part not sent. */
  #firstPart = 0;
  /** Encoded Open or Close: Open precedes the first part, Close follows the last. */
  readonly #controls: Buffer[] = [];
  readonly #buffers = new ReusedBuffers(WRITES_IN_FLIGHT_MAX);
  #isFlushPlanned = false;
  /** Payload bytes of `#parts` and of parts handed to the connection but not written yet. */
  #waitingBytes = 0;
  #writesInFlight = 0;
  #endsSending = false;
  #isEnded = false;
  /** Why this end ended the stream. */
  #ownEnd: TransportEnd | undefined;

  /** @param connection Connection of the stream, shared or its own. */
  constructor(connection: GrpcCallConnection, payloads: SamplePayloads, events: TransportEvents) {
    this.#payloads = payloads;
    this.#events = events;
    this.#call = connection.call(INFER_METHOD.path, this);
  }

  get hasRoom(): boolean {
    return this.#waitingBytes < WAITING_BYTES_MAX;
  }

  get sentBytes(): number {
    return this.#call.sentBytes;
  }

  sendPart(part: SentPart): void {
    this.#waitingBytes += part.bytes;
    this.#parts.push(part);
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    queueMicrotask(this.#flush);
  }

  dropParts(): readonly SentPart[] {
    const dropped = this.#parts.slice(this.#firstPart);
    this.#parts = [];
    this.#firstPart = 0;
    for (const { bytes } of dropped) this.#waitingBytes -= bytes;
    return dropped;
  }

  sendControl(message: Buffer): void {
    this.#controls.push(message);
    this.#flush();
  }

  endSending(): void {
    this.#endsSending = true;
    this.#flush();
  }

  cancel(): void {
    this.#ownEnd ??= { code: status.CANCELLED, details: 'the LoadGen node ended the stream' };
    this.#call.cancel();
  }

  onHead(call: GrpcCall, head: ResponseHead): void {
    const encoding = head.fields.find(({ name }) => name === 'grpc-encoding')?.value ?? 'identity';
    if (encoding !== 'identity') {
      const details =
        'it uses gRPC message compression, but only the sample library may compress; switch it off there, ' +
        'or in the proxy before it';
      this.#ownEnd ??= { code: status.FAILED_PRECONDITION, details };
      // Not while the bytes of a chunk are being read.
      queueMicrotask(() => this.#call.cancel());
      return;
    }
    this.#events.onAccepted({
      loadgen: call.ends,
      responseHeaders: headersOf(head),
    });
  }

  onMessage(_call: GrpcCall, message: BorrowedBytes): void {
    if (this.#isEnded) return;
    const { buffer, byteOffset, length } = readInPlace(message);
    this.#events.onMessage(Buffer.from(buffer, byteOffset, length));
  }

  onEnd(_call: GrpcCall, code: number, details: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#parts = [];
    this.#events.onEnd(this.#ownEnd ?? { code, details });
  }

  /** Hands over what the socket can take now; the rest stays here as numbers. */
  readonly #flush = (): void => {
    this.#isFlushPlanned = false;
    while (!this.#isEnded && this.#writesInFlight < WRITES_IN_FLIGHT_MAX) {
      if (this.#firstPart < this.#parts.length) this.#writeParts();
      else if (this.#controls.length > 0) this.#writeControl(this.#controls.shift() as Buffer);
      else break;
    }
    this.#endIfWritten();
  };

  #writeControl(message: Buffer): void {
    const head = Buffer.alloc(MESSAGE_HEAD_BYTES);
    head.writeUInt32BE(message.length, 1);
    this.#write([head, message], head.length + message.length, 0);
  }

  /** Writes waiting parts, up to a size. */
  #writeParts(): void {
    const from = this.#firstPart;
    let to = from;
    let bytes = 0;
    while (to < this.#parts.length && (to === from || bytes < JOINED_BYTES_MAX)) {
      bytes += (this.#parts[to] as SentPart).bytes; // In range: to < length.
      to += 1;
    }
    const { preparedQueryPayload: prepared } = this.#payloads;
    const parts = this.#parts.slice(from, to);
    const wireParts: PartToWrite[] =
      prepared === undefined ? parts : parts.map((part) => wholeQueryPart(part, prepared));
    this.#firstPart = to;
    // Rare enough that moving the rest is cheap; a backlog may last for the whole run.
    if (to === this.#parts.length || to >= SENT_PARTS_MAX) {
      this.#parts.splice(0, to);
      this.#firstPart = 0;
    }
    const buffer = Buffer.from(this.#buffers.take(gatheredSize(wireParts)));
    const segments = gatherFrames(wireParts, buffer);
    const begin = this.#call.sentBytes + this.#call.unsentBytes;
    let end = begin;
    for (let i = 0; i < parts.length; i += 1) {
      end += frameSize(wireParts[i] as PartToWrite); // In range: as many as parts.
      this.#events.onFramed(parts[i] as SentPart, end);
    }
    this.#write(segments, end - begin, bytes, buffer.buffer);
  }

  /** @param partBytes Payload bytes. @param buffer Free for reuse once the socket has its bytes. */
  #write(
    segments: readonly Uint8Array[],
    frameBytes: number,
    partBytes: number,
    buffer?: ArrayBuffer,
  ): void {
    this.#writesInFlight += 1;
    this.#call.writeFramed(segments, frameBytes, () => {
      this.#writesInFlight -= 1;
      this.#waitingBytes -= partBytes;
      if (buffer !== undefined) this.#buffers.giveBack(buffer);
      this.#flush();
      if (partBytes > 0 && !this.#isEnded) this.#events.onWritten();
    });
  }

  #endIfWritten(): void {
    const isWritten = this.#parts.length === 0 && this.#controls.length === 0;
    if (!this.#endsSending || !isWritten || this.#isEnded) return;
    this.#endsSending = false;
    this.#call.end();
  }
}

/**
 * The part of a query that the sample library compressed as a whole. Its only sample carries just
 * an id; the prepared payload goes out unchanged (rule: inference_rules v4.1, Network division: "in
 * Server mode allow per-Query compression", DLRM).
 * @param prepare SamplePayloads.preparedQueryPayload.
 */
function wholeQueryPart(
  { query, querySampleCount, samples }: SentPart,
  prepare: NonNullable<SamplePayloads['preparedQueryPayload']>,
): PartToWrite {
  const [sample] = samples;
  assert(
    sample !== undefined && querySampleCount === 1,
    'only queries of one sample can be compressed as a whole',
  );
  assert(sample.total === undefined);
  const { payload, sampleBytes } = prepare(sample.sampleIndex);
  return {
    query,
    querySampleCount,
    samples: [{ ...sample, payload: NO_BYTES }],
    queryPayload: payload,
    queryEncoding: 0,
    querySampleBytes: sampleBytes,
  };
}

/** The connections that carry Infer streams, by node and number. */
export class NativeConnections {
  readonly #settings: DispatchSettings;
  readonly #onHandOver: (address: string, reason: string) => void;
  readonly #connections = new Map<string, GrpcCallConnection>();
  readonly #rooms = new Map<string, AnswerRoom>();

  /** @param onHandOver Called when the other end gave up a connection by plan. */
  constructor(settings: DispatchSettings, onHandOver: (address: string, reason: string) => void) {
    this.#settings = settings;
    this.#onHandOver = onHandOver;
  }

  /**
   * The connection of that number to a node, made at first use.
   * @throws MlperfError `ERR_CONFIG_INVALID` if a certificate, key or token file is unreadable.
   */
  to(address: string, number: number): GrpcCallConnection {
    const key = `${number} ${address}`;
    let connection = this.#connections.get(key);
    if (connection === undefined) {
      const room = this.#rooms.get(address) ?? new AnswerRoom(this.#settings.messageBytesMax);
      this.#rooms.set(address, room);
      // Streams receive their own responses, writes and ends.
      const events: ConnectionEvents = {
        onWritten() {},
        onAccepted() {},
        onHandOver: (reason) => this.#onHandOver(address, reason),
        onClosed() {},
      };
      connection = connectGrpc(address, this.#settings, events, room);
      this.#connections.set(key, connection);
    }
    return connection;
  }

  /** Closes all connections; open streams end. */
  close(): void {
    for (const connection of this.#connections.values()) void connection.close();
    this.#connections.clear();
  }
}
