import assert from 'node:assert';
import type { BorrowedBytes } from '../base/bytes/borrowed-bytes.ts';

/** Rule: RFC 9113, section 6. */
export const FRAME_TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags of frames; which frame has which: RFC 9113, section 6. */
export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 };

/** Length, type, flags and stream. */
export const FRAME_HEAD_BYTES = 9;

/** Of HEADERS: stream on which it depends, and weight; of no meaning any more. */
export const PRIORITY_BYTES = 5;

/** Largest frame without a setting, and the least that a peer must take. */
export const FRAME_BYTES_DEFAULT = 16_384;

/** Largest value of a setting of the frame size. */
export const FRAME_BYTES_LIMIT: number = 2 ** 24 - 1;

/** Initial windows. */
export const WINDOW_BYTES_DEFAULT = 65_535;

/** Largest window, and largest number of a stream. */
export const WINDOW_BYTES_LIMIT: number = 2 ** 31 - 1;

/** First bytes of a client. */
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Error codes of HTTP/2. Rule: RFC 9113, section 7. */
export const ERROR_CODE = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  CONNECT_ERROR: 10,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
  HTTP_1_1_REQUIRED: 13,
} as const;

/** Name of one of {@link ERROR_CODE}. */
export type ErrorName = keyof typeof ERROR_CODE;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(ERROR_CODE).map(([name, code]) => [code, name]),
);

/** Name of an error code that a peer sent; the number where HTTP/2 has no such code. */
export function errorName(code: number): string {
  return NAMES.get(code) ?? `error code ${code}`;
}

/** The peer broke HTTP/2, or asks for more than this end gives: the connection ends with this code. */
export class Http2Error extends Error {
  readonly code: ErrorName;

  constructor(code: ErrorName, message: string) {
    super(message);
    this.name = 'Http2Error';
    this.code = code;
  }
}

/** Bytes of one write to the socket, more or less: beyond it a write costs little per byte. */
const BATCH_BYTES_MAX: number = 512 * 1024;

/** Buffer for heads and for pieces that are copied. */
export const BATCH_BUFFER_BYTES: number = 128 * 1024;

/** Pieces up to this size are joined in the buffer: less work than one more piece for the socket. */
const COPIED_BYTES_MAX: number = 16 * 1024;

/** Kept free of contents, so that the heads of frames always fit. */
const HEADS_BYTES: number = 4 * 1024;

/** Frames that leave in one write: heads and small pieces joined in a buffer, large ones where they are. */
export class FrameBatch {
  /** Memory of the buffer: free for another batch once this one was written. */
  readonly memory: ArrayBuffer;
  readonly #buffer: Buffer;
  readonly #segments: Uint8Array[] = [];
  #used = 0;
  /** Where the part of the buffer begins that is in no segment yet. */
  #spanBegin = 0;
  #bytes = 0;
  /** Bytes of messages among them. */
  messageBytes = 0;
  /** Called when the socket has taken it. */
  readonly whenTaken: (() => void)[] = [];

  /** @param memory Of {@link BATCH_BUFFER_BYTES} or more. */
  constructor(memory: ArrayBuffer) {
    this.memory = memory;
    this.#buffer = Buffer.from(memory, 0, BATCH_BUFFER_BYTES);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False when the batch should go. */
  get hasRoom(): boolean {
    return this.#bytes < BATCH_BYTES_MAX && this.#used < BATCH_BUFFER_BYTES - HEADS_BYTES;
  }

  /** Begins a frame; its payload is to be appended. After {@link hasRoom}. */
  frame(type: number, flags: number, streamId: number, length: number): void {
    assert(length >= 0 && length <= FRAME_BYTES_LIMIT);
    const buffer = this.#buffer;
    const at = this.#used;
    buffer[at] = length >>> 16;
    buffer[at + 1] = length >>> 8;
    buffer[at + 2] = length;
    buffer[at + 3] = type;
    buffer[at + 4] = flags;
    buffer[at + 5] = streamId >>> 24;
    buffer[at + 6] = streamId >>> 16;
    buffer[at + 7] = streamId >>> 8;
    buffer[at + 8] = streamId;
    this.#used = at + FRAME_HEAD_BYTES;
    this.#bytes += FRAME_HEAD_BYTES;
  }

  /** Appends `[begin, end)` of a piece, which must not change until it was written. */
  append(piece: Uint8Array, begin: number, end: number): void {
    const bytes = end - begin;
    this.#bytes += bytes;
    if (bytes > COPIED_BYTES_MAX || bytes > BATCH_BUFFER_BYTES - HEADS_BYTES - this.#used) {
      this.#closeSpan();
      this.#segments.push(piece.subarray(begin, end));
    } else if (bytes < 64) {
      const buffer = this.#buffer;
      let to = this.#used;
      for (let at = begin; at < end; at += 1, to += 1) buffer[to] = piece[at] as number;
      this.#used = to;
    } else {
      this.#buffer.set(bytes === piece.length ? piece : piece.subarray(begin, end), this.#used);
      this.#used += bytes;
    }
  }

  /** All bytes in order. Add no frames after that. */
  segments(): readonly Uint8Array[] {
    this.#closeSpan();
    return this.#segments;
  }

  #closeSpan(): void {
    if (this.#used === this.#spanBegin) return;
    this.#segments.push(this.#buffer.subarray(this.#spanBegin, this.#used));
    this.#spanBegin = this.#used;
  }
}

/** Answers that wait for the socket: a peer that asks and does not read gets no more of them. */
const WAITING_ANSWERS_MAX = 1_000;

/** Rule: RFC 9113, section 6.7. */
export const PING_BYTES = 8;

/** Frames of this end that carry no call's bytes. They wait here and go before all others. */
export class ControlFrames {
  #waiting: Buffer[] = [];
  #waitingAnswers = 0;
  #settingsAnswered: number;

  /** @param settingsAnswered SETTINGS of the peer, counted from its first, that another has answered. */
  constructor(settingsAnswered = 0) {
    this.#settingsAnswered = settingsAnswered;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  settings(values: readonly (readonly [id: number, value: number])[]): void {
    const payload = Buffer.alloc(values.length * 6);
    values.forEach(([id, value], i) => {
      payload.writeUInt16BE(id, i * 6);
      payload.writeUInt32BE(value, i * 6 + 2);
    });
    this.#add(FRAME_TYPE.settings, 0, 0, payload);
  }

  /** @throws Http2Error when too many answers wait. */
  settingsAck(): void {
    if (this.#settingsAnswered > 0) {
      this.#settingsAnswered -= 1;
      return;
    }
    this.#countAnswer();
    this.#add(FRAME_TYPE.settings, FLAG.ack, 0, Buffer.alloc(0));
  }

  ping(): void {
    this.#add(FRAME_TYPE.ping, 0, 0, Buffer.alloc(PING_BYTES));
  }

  /** @param payload 8 bytes of the peer's. @throws Http2Error when too many answers wait. */
  pingAck(payload: BorrowedBytes): void {
    this.#countAnswer();
    this.#add(FRAME_TYPE.ping, FLAG.ack, 0, payload);
  }

  /** @param streamId 0 is the connection. */
  windowUpdate(streamId: number, bytes: number): void {
    this.#add(FRAME_TYPE.windowUpdate, 0, streamId, word(bytes));
  }

  rstStream(streamId: number, code: ErrorName): void {
    this.#add(FRAME_TYPE.rstStream, 0, streamId, word(ERROR_CODE[code]));
  }

  /** @param lastStreamId Last stream of the peer that was taken: a client takes none. */
  goAway(code: ErrorName, text: string, lastStreamId = 0): void {
    const payload = Buffer.concat([word(lastStreamId), word(ERROR_CODE[code]), Buffer.from(text)]);
    this.#add(FRAME_TYPE.goAway, 0, 0, payload);
  }

  /**
   * An answer that is a header block. Those of an encoder with a table must go out in their order: not here.
   * @throws Http2Error when too many answers wait.
   */
  answer(streamId: number, block: Buffer, flags: number, frameBytesMax: number): void {
    this.#countAnswer();
    for (let begin = 0; begin < block.length; begin += frameBytesMax) {
      const end = Math.min(block.length, begin + frameBytesMax);
      const type = begin === 0 ? FRAME_TYPE.headers : FRAME_TYPE.continuation;
      const own = (begin === 0 ? flags : 0) | (end === block.length ? FLAG.endHeaders : 0);
      this.#add(type, own, streamId, block.subarray(begin, end));
    }
  }

  /** Moves all of them into the batch. */
  fill(batch: FrameBatch): void {
    for (const frame of this.#waiting) batch.append(frame, 0, frame.length);
    this.#waiting = [];
    this.#waitingAnswers = 0;
  }

  #countAnswer(): void {
    this.#waitingAnswers += 1;
    if (this.#waitingAnswers <= WAITING_ANSWERS_MAX) return;
    throw new Http2Error('ENHANCE_YOUR_CALM', 'it asks for more answers than it reads');
  }

  #add(type: number, flags: number, streamId: number, payload: BorrowedBytes): void {
    const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + payload.length);
    frame.writeUIntBE(payload.length, 0, 3);
    frame[3] = type;
    frame[4] = flags;
    frame.writeUInt32BE(streamId, 5);
    frame.set(payload, FRAME_HEAD_BYTES);
    this.#waiting.push(frame);
  }
}

function word(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
