import { type Channel, type Client, Metadata, type StatusObject, status } from '@grpc/grpc-js';
import type { SamplePayloads } from '../../shared/domain/query-sample-library.ts';
import type { WirePart } from '../../shared/wire/part-codec.ts';
import { INFER_METHOD } from '../../shared/wire/sut-contract.ts';
import { PartFrames } from './part-frames.ts';
import type { OutgoingPart, PartTransport, TransportEvents } from './part-transport.ts';

/** Bytes that wait for the socket before the transport says that it has no room: a part or two. */
const WAITING_BYTES_MAX: number = 4 * 1024 * 1024;

/** Parts are joined into one write up to this size: beyond it a write costs little per byte. */
const JOINED_BYTES_MAX: number = 64 * 1024;

type Call = ReturnType<Channel['createCall']>;

/**
 * An Infer stream by grpc-js on this thread.
 *
 * It uses the channel's call directly, without the object stream around it, which hands over one message
 * at a time and waits for each. Parts of one turn of the event loop leave together ({@link PartFrames}): grpc-js itself defers a
 * message by several microtasks, so nothing waits for another.
 */
export class GrpcTransport implements PartTransport {
  readonly #call: Call;
  readonly #payloads: SamplePayloads;
  readonly #events: TransportEvents;
  #parts: OutgoingPart[] = [];
  #isFlushPlanned = false;
  /** Payload bytes of `#parts` and of what was handed to gRPC and is not written yet. */
  #waitingBytes = 0;
  #writesInFlight = 0;
  #endsSending = false;
  #isEnded = false;

  /** @param client Connection that the stream shares with others or has for itself. */
  constructor(client: Client, payloads: SamplePayloads, events: TransportEvents) {
    this.#payloads = payloads;
    this.#events = events;
    this.#call = client
      .getChannel()
      .createCall(INFER_METHOD.path, Number.POSITIVE_INFINITY, null, null, null);
    this.#call.start(new Metadata(), {
      onReceiveMetadata: () => {},
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

  sendControl(message: Buffer): void {
    this.#flush();
    this.#write(message, 0);
  }

  endSending(): void {
    this.#flush();
    this.#endsSending = true;
    this.#endIfWritten();
  }

  cancel(): void {
    this.#call.cancelWithStatus(status.CANCELLED, 'the LoadGen node ended the stream');
  }

  readonly #flush = (): void => {
    this.#isFlushPlanned = false;
    const parts = this.#parts;
    if (parts.length === 0) return;
    this.#parts = [];
    let from = 0;
    while (from < parts.length) {
      let to = from;
      let bytes = 0;
      while (to < parts.length && (to === from || bytes < JOINED_BYTES_MAX)) {
        bytes += (parts[to] as OutgoingPart).bytes; // In range: to < length.
        to += 1;
      }
      const wireParts = parts.slice(from, to).map((part) => this.#toWire(part));
      // grpc-js asks a message for its length and to copy itself, nothing else.
      this.#write(new PartFrames(wireParts) as unknown as Buffer, bytes);
      from = to;
    }
  };

  #toWire(part: OutgoingPart): WirePart {
    const { query, querySampleCount } = part;
    const samples = part.samples.map(({ id, sampleIndex, begin, end, total }) => {
      const whole = this.#payloads.payloadOf(sampleIndex);
      const payload = total === 0 ? whole : whole.subarray(begin, end);
      return { id, payload, encoding: 0, offset: begin, total };
    });
    return { query, querySampleCount, samples };
  }

  #write(message: Buffer, bytes: number): void {
    if (this.#isEnded) return;
    this.#writesInFlight += 1;
    const callback = (): void => {
      this.#writesInFlight -= 1;
      const hadRoom = this.hasRoom;
      this.#waitingBytes -= bytes;
      this.#endIfWritten();
      if (!hadRoom && this.hasRoom && !this.#isEnded) this.#events.onRoom();
    };
    this.#call.sendMessageWithContext({ callback }, message);
  }

  /** grpc-js would close the sending side before messages that are still on their way through it. */
  #endIfWritten(): void {
    if (!this.#endsSending || this.#writesInFlight > 0 || this.#isEnded) return;
    this.#endsSending = false;
    this.#call.halfClose();
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
