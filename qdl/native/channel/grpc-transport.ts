import assert from 'node:assert';
import { type Client, type Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { NO_BYTES, ReusedBuffers } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import type { WirePart } from '../../../shared/wire/part-codec.ts';
import { INFER_METHOD } from '../../../shared/wire/sut-contract.ts';
import { responseHeadersOf, socketEndsOf } from '../../connect/call-path.ts';
import { callMetadata, connectClient } from '../../connect/unary-calls.ts';
import type { OutgoingPart } from '../../dispatch/dispatch-channel.ts';
import { type DispatchSettings, WAITING_BYTES_MAX } from '../../settings/dispatch-settings.ts';
import {
  FramedBytes,
  framesSize,
  gatheredSize,
  gatherFrames,
  hasLargePayload,
  isCompressedByGrpc,
  passFramedBytes,
  writeFrames,
} from './framed-bytes.ts';
import type { PartTransport, TransportEvents } from './sut-channel.ts';

/** Parts are joined into one write up to this size: beyond it a write costs little per byte. */
const JOINED_BYTES_MAX: number = 128 * 1024;

/**
 * Bytes in one write to the socket: node:http2 reads nothing while a write is in progress, and between two
 * it reads 64 KiB at least. Larger writes would hold up large responses, and the answers to pings behind them.
 */
const SLICE_BYTES_MAX: number = 640 * 1024;

/** Writes that are in gRPC at once: one that the socket takes, and one ready behind it. */
const WRITES_IN_FLIGHT_MAX = 2;

/** Parts that were handed over and are still in the list, at most. */
const SENT_PARTS_MAX = 1024;

type Channel = ReturnType<Client['getChannel']>;
type Call = ReturnType<Channel['createCall']>;

/**
 * An Infer stream by grpc-js on this thread.
 *
 * It uses the channel's call directly, without the object stream around it, which hands over one message
 * at a time and waits for each. Parts wait here as numbers until gRPC can take a write; those that are there by then
 * leave together, each as a message of its own ({@link FramedBytes}), so that nothing waits for another.
 */
export class GrpcTransport implements PartTransport {
  readonly #channel: Channel;
  readonly #call: Call;
  readonly #payloads: SamplePayloads;
  readonly #events: TransportEvents;
  #parts: OutgoingPart[] = [];
  /** Those before it were handed over. */
  #firstPart = 0;
  /** Open or Close: Open comes before the first part, Close behind the last. */
  readonly #controls: Buffer[] = [];
  readonly #buffers = new ReusedBuffers(WRITES_IN_FLIGHT_MAX);
  #isFlushPlanned = false;
  #passesFrames = false;
  /** Payload bytes of `#parts` and of what was handed to gRPC and is not written yet. */
  #waitingBytes = 0;
  #writesInFlight = 0;
  #endsSending = false;
  #isEnded = false;

  /** @param connection Connection that the stream shares with others or has for itself. */
  constructor(
    { client, metadata }: GrpcConnection,
    payloads: SamplePayloads,
    events: TransportEvents,
  ) {
    this.#payloads = payloads;
    this.#events = events;
    this.#channel = client.getChannel();
    this.#call = this.#channel.createCall(
      INFER_METHOD.path,
      Number.POSITIVE_INFINITY,
      null,
      null,
      null,
    );
    // A copy: grpc-js adds to it.
    this.#call.start(metadata.clone(), {
      // The node has accepted the stream: from here on the call is complete inside grpc-js.
      onReceiveMetadata: (answer) => this.#onMetadata(answer),
      onReceiveMessage: (message: Buffer) => this.#onMessage(message),
      onReceiveStatus: (end) => this.#onStatus(end),
    });
    this.#call.startRead();
  }

  get hasRoom(): boolean {
    return this.#waitingBytes < WAITING_BYTES_MAX;
  }

  sendPart(part: OutgoingPart): void {
    this.#waitingBytes += part.bytes;
    this.#parts.push(part);
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    queueMicrotask(this.#flush);
  }

  dropParts(): readonly OutgoingPart[] {
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
    this.#call.cancelWithStatus(status.CANCELLED, 'the LoadGen node ended the stream');
  }

  /** Hands over what gRPC can take now; the rest stays here as numbers. */
  readonly #flush = (): void => {
    this.#isFlushPlanned = false;
    while (!this.#isEnded && this.#writesInFlight < WRITES_IN_FLIGHT_MAX) {
      if (this.#firstPart < this.#parts.length) this.#writeParts();
      else if (this.#controls.length > 0) this.#write(this.#controls.shift() as Buffer, 0);
      else break;
    }
    this.#endIfWritten();
  };

  /** One write of the parts that wait, up to a size. */
  #writeParts(): void {
    const from = this.#firstPart;
    let to = from;
    let bytes = 0;
    while (to < this.#parts.length && (to === from || bytes < JOINED_BYTES_MAX)) {
      bytes += (this.#parts[to] as OutgoingPart).bytes; // In range: to < length.
      to += 1;
    }
    const { preparedQueryPayload: prepared } = this.#payloads;
    const parts = this.#parts.slice(from, to);
    const wireParts: WirePart[] =
      prepared === undefined ? parts : parts.map((part) => wholeQueryPart(part, prepared));
    this.#firstPart = to;
    // Seldom enough that moving the rest costs nothing; a backlog may last for the whole run.
    if (to === this.#parts.length || to >= SENT_PARTS_MAX) {
      this.#parts.splice(0, to);
      this.#firstPart = 0;
    }
    if (this.#passesFrames && hasLargePayload(wireParts)) {
      const buffer = Buffer.from(this.#buffers.take(gatheredSize(wireParts)));
      this.#writeSegments(gatherFrames(wireParts, buffer), bytes, buffer.buffer);
    } else {
      const buffer = Buffer.from(this.#buffers.take(framesSize(wireParts)));
      const frames = buffer.subarray(0, writeFrames(wireParts, buffer));
      this.#writeSegments([frames], bytes, buffer.buffer);
    }
  }

  /** Writes frames that lie in several places, large ones in slices where they may pass as they are. */
  #writeSegments(segments: readonly Buffer[], bytes: number, buffer: ArrayBuffer): void {
    const sliceMax = this.#passesFrames ? SLICE_BYTES_MAX : Number.POSITIVE_INFINITY;
    const slices = segments.flatMap((segment) => cutEvenly(segment, sliceMax));
    slices.forEach((slice, i) => {
      // grpc-js asks a message for its length and to copy itself, nothing else.
      const framed = new FramedBytes(slice) as unknown as Buffer;
      if (i < slices.length - 1) this.#write(framed, 0);
      else this.#write(framed, bytes, buffer);
    });
  }

  /** @param buffer To be used again once the socket has its bytes. */
  #write(message: Buffer, bytes: number, buffer?: ArrayBuffer): void {
    this.#writesInFlight += 1;
    const callback = (): void => {
      this.#writesInFlight -= 1;
      this.#waitingBytes -= bytes;
      if (buffer !== undefined) this.#buffers.giveBack(buffer);
      // The socket is fed first.
      this.#flush();
      if (bytes > 0 && !this.#isEnded) this.#events.onWritten(bytes);
    };
    this.#call.sendMessageWithContext({ callback }, message);
  }

  /** grpc-js would close the sending side before messages that are still on their way through it. */
  #endIfWritten(): void {
    const isWritten = this.#parts.length === 0 && this.#writesInFlight === 0;
    if (!this.#endsSending || !isWritten || this.#isEnded) return;
    this.#endsSending = false;
    this.#call.halfClose();
  }

  #onMetadata(answer: Metadata): void {
    const isCompressed = isCompressedByGrpc(this.#call);
    if (isCompressed === true) {
      const details =
        'it compresses messages by gRPC itself, which the rules leave to the sample library; switch that off there, ' +
        'or in the proxy before it';
      this.#call.cancelWithStatus(status.FAILED_PRECONDITION, details);
      return;
    }
    if (isCompressed === false) this.#events.onUncompressed();
    this.#passesFrames = passFramedBytes(this.#call);
    this.#events.onAccepted({
      loadgen: socketEndsOf(this.#channel),
      responseHeaders: responseHeadersOf(answer),
    });
  }

  #onMessage(message: Buffer): void {
    if (this.#isEnded) return;
    this.#events.onMessage(message);
    this.#call.startRead();
  }

  #onStatus(end: StatusObject): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#parts = [];
    this.#events.onEnd({ code: end.code, details: end.details });
  }
}

/** Cuts a buffer into as few slices of at most `bytesMax` as possible, of about the same length. */
function cutEvenly(buffer: Buffer, bytesMax: number): readonly Buffer[] {
  const count = Math.ceil(buffer.length / bytesMax);
  if (count <= 1) return [buffer];
  return Array.from({ length: count }, (_, i) =>
    buffer.subarray(
      Math.floor((buffer.length * i) / count),
      Math.floor((buffer.length * (i + 1)) / count),
    ),
  );
}

/**
 * The part of a query that the sample library has compressed as a whole: its one sample carries an id
 * only, the payload goes out as it was prepared (rule: inference_rules v4.1, Network division: "in Server
 * mode allow per-Query compression", DLRM).
 * @param prepare SamplePayloads.preparedQueryPayload.
 */
function wholeQueryPart(
  { query, querySampleCount, samples }: OutgoingPart,
  prepare: NonNullable<SamplePayloads['preparedQueryPayload']>,
): WirePart {
  const [sample] = samples;
  assert(sample !== undefined && querySampleCount === 1, 'only queries of one sample are prepared');
  assert.equal(sample.total, 0);
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

/** A connection to a node, and what every call on it carries; to be copied, since grpc-js adds to it. */
type GrpcConnection = ReturnType<GrpcConnections['to']>;

/** The connections that carry Infer streams, by node and number. */
export class GrpcConnections {
  readonly #settings: DispatchSettings;
  readonly #connections = new Map<
    string,
    { readonly client: Client; readonly metadata: Metadata }
  >();

  constructor(settings: DispatchSettings) {
    this.#settings = settings;
  }

  /**
   * The connection of that number to a node, made when it is first asked for.
   * @throws MlperfError `ERR_CONFIG_INVALID` when a file of its security cannot be used.
   */
  to(address: string, number: number) {
    const key = `${number} ${address}`;
    let connection = this.#connections.get(key);
    if (connection === undefined) {
      const settings = this.#settings;
      const client = connectClient(address, settings);
      connection = { client, metadata: callMetadata(settings) };
      this.#connections.set(key, connection);
    }
    return connection;
  }

  /** Closes all; streams that are still open end. */
  close(): void {
    for (const { client } of this.#connections.values()) client.close();
    this.#connections.clear();
  }
}
