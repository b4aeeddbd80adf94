import type { BorrowedBytes } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import type { FrameBatch } from './frame-batch.ts';
import { FLAG, FRAME_HEAD_BYTES, FRAME_TYPE } from './frame-constants.ts';
import { ERROR_CODE, type ErrorName, Http2Error } from './http2-error.ts';

/** Answers that wait for the socket: a peer that asks and does not read gets no more of them. */
const WAITING_ANSWERS_MAX = 1_000;

/** Rule: RFC 9113, section 6.7. */
export const PING_BYTES = 8;

/** Frames of this end that carry no call's bytes. They wait here and go before all others. */
export class ControlFrames {
  #waiting: Buffer[] = [];
  #waitingAnswers = 0;

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

  goAway(code: ErrorName, text: string): void {
    // No stream of the peer was ever taken: the last one is 0.
    const payload = Buffer.concat([word(0), word(ERROR_CODE[code]), Buffer.from(text)]);
    this.#add(FRAME_TYPE.goAway, 0, 0, payload);
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
