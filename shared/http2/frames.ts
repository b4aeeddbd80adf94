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

/** Flags of frames, with the frames that have them: RFC 9113, section 6. */
export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 };

/** Length, type, flags and stream. */
export const FRAME_HEAD_BYTES = 9;

/** Priority fields of HEADERS: dependency and weight; obsolete. */
export const PRIORITY_BYTES = 5;

/** Default SETTINGS_MAX_FRAME_SIZE, and the smallest allowed. */
export const FRAME_BYTES_DEFAULT = 16_384;

/** Largest SETTINGS_MAX_FRAME_SIZE. */
export const FRAME_BYTES_LIMIT: number = 2 ** 24 - 1;

/** Initial windows. */
export const WINDOW_BYTES_DEFAULT = 65_535;

/** Largest window, and largest stream id. */
export const WINDOW_BYTES_LIMIT: number = 2 ** 31 - 1;

/** Connection preface of a client. */
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

/** Name of an error code from a peer; the number if HTTP/2 has no such code. */
export function errorName(code: number): string {
  return NAMES.get(code) ?? `error code ${code}`;
}

/**
 * The peer violated HTTP/2, or exceeded a limit of this end: the connection ends with this code.
 */
export class Http2Error extends Error {
  readonly code: ErrorName;

  constructor(code: ErrorName, message: string) {
    super(message);
    this.name = 'Http2Error';
    this.code = code;
  }
}

/** Approximate bytes of one write to the socket: above it a write costs little per byte. */
const BATCH_BYTES_MAX: number = 512 * 1024;

/** Buffer for frame headers and copied pieces. */
export const BATCH_BUFFER_BYTES: number = 128 * 1024;

/**
 * Pieces up to this size are copied into the buffer: less work than one more piece for the socket.
 */
const COPIED_BYTES_MAX: number = 16 * 1024;

/** Reserved in the buffer, so that frame headers always fit. */
const HEADS_BYTES: number = 4 * 1024;

/** Frames of one write: headers and small pieces joined in a buffer, large ones uncopied. */
export class FrameBatch {
  /** Memory of the buffer: reusable once this batch was written. */
  readonly memory: ArrayBuffer;
  readonly #buffer: Buffer;
  readonly #segments: Uint8Array[] = [];
  #used = 0;
  /** Start of the buffer's part that is in no segment yet. */
  #spanBegin = 0;
  #bytes = 0;
  /** Bytes of gRPC messages in the batch. */
  messageBytes = 0;
  /** Called when the socket has taken the batch. */
  readonly whenTaken: (() => void)[] = [];

  /** @param memory Of {@link BATCH_BUFFER_BYTES} or more. */
  constructor(memory: ArrayBuffer) {
    this.memory = memory;
    this.#buffer = Buffer.from(memory, 0, BATCH_BUFFER_BYTES);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False once the batch should be sent. */
  get hasRoom(): boolean {
    return this.#bytes < BATCH_BYTES_MAX && this.#used < BATCH_BUFFER_BYTES - HEADS_BYTES;
  }

  /** Begins a frame; append its payload afterwards. Requires {@link hasRoom}. */
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

  /** Appends `[begin, end)` of a piece, which must not change until it is written. */
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

  /** All bytes in order. Add no frames afterwards. */
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

/** Most replies waiting for the socket: a peer that requests but does not read gets no more. */
const WAITING_ANSWERS_MAX = 1_000;

/** Rule: RFC 9113, section 6.7. */
export const PING_BYTES = 8;

/** Control frames of this end. They wait here and precede all others. */
export class ControlFrames {
  #waiting: Buffer[] = [];
  #waitingAnswers = 0;
  #settingsAnswered: number;

  /**
   * @param settingsAnswered SETTINGS frames of the peer that were already acknowledged elsewhere.
   */
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

  /** @throws Http2Error if too many replies wait. */
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

  /** @param payload The 8 bytes of the peer's PING. @throws Http2Error if too many replies wait. */
  pingAck(payload: BorrowedBytes): void {
    this.#countAnswer();
    this.#add(FRAME_TYPE.ping, FLAG.ack, 0, payload);
  }

  /** @param streamId 0: the connection. */
  windowUpdate(streamId: number, bytes: number): void {
    this.#add(FRAME_TYPE.windowUpdate, 0, streamId, word(bytes));
  }

  rstStream(streamId: number, code: ErrorName): void {
    this.#add(FRAME_TYPE.rstStream, 0, streamId, word(ERROR_CODE[code]));
  }

  /** @param lastStreamId Last stream of the peer that was processed: a client processes none. */
  goAway(code: ErrorName, text: string, lastStreamId = 0): void {
    const payload = Buffer.concat([word(lastStreamId), word(ERROR_CODE[code]), Buffer.from(text)]);
    this.#add(FRAME_TYPE.goAway, 0, 0, payload);
  }

  /**
   * A response that is one header block. Blocks of an encoder with a table must be sent in order:
   * not here.
   * @throws Http2Error if too many replies wait.
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

  /** Moves all frames into the batch. */
  fill(batch: FrameBatch): void {
    for (const frame of this.#waiting) batch.append(frame, 0, frame.length);
    this.#waiting = [];
    this.#waitingAnswers = 0;
  }

  #countAnswer(): void {
    this.#waitingAnswers += 1;
    if (this.#waitingAnswers <= WAITING_ANSWERS_MAX) return;
    throw new Http2Error('ENHANCE_YOUR_CALM', 'it requests more replies than it reads');
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
