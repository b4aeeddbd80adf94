import { Http2Error, WINDOW_BYTES_LIMIT } from './frames.ts';

/** Send window of a stream or of the connection. Below 0 after the peer made its windows smaller. */
export class SendWindow {
  bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /**
   * The peer gives room, or takes some back by a setting.
   * @param whose For the message.
   * @throws Http2Error FLOW_CONTROL_ERROR when the window becomes too large (RFC 9113, 6.9.1).
   */
  add(bytes: number, whose: 'a call' | 'the connection'): void {
    this.bytes += bytes;
    if (this.bytes <= WINDOW_BYTES_LIMIT) return;
    throw new Http2Error('FLOW_CONTROL_ERROR', `the window of ${whose} grew beyond 2^31 - 1`);
  }
}

/** Receive window of a stream or of the connection: given back in large steps. */
export class ReceiveWindow {
  readonly #bytesMax: number;
  /** Bytes that came since room was given back last. */
  #usedBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Counts what came. @returns False when it was more than the peer may send. */
  use(bytes: number): boolean {
    this.#usedBytes += bytes;
    return this.#usedBytes <= this.#bytesMax;
  }

  /** Room to be given back now; 0 while it is not worth a frame. */
  takeDue(): number {
    if (this.#usedBytes * 2 < this.#bytesMax) return 0;
    const bytes = this.#usedBytes;
    this.#usedBytes = 0;
    return bytes;
  }
}

/** Largest messages that fit beside each other: with the usual 64 MiB as much as a SUT node's queue holds. */
const MESSAGES_HELD_MAX = 4;

/**
 * Memory for answers of one server that have begun and are not complete, over all of its connections: each may be as
 * large as a message, and the server alone decides how many it begins.
 */
export class AnswerRoom {
  readonly bytesMax: number;
  #usedBytes = 0;

  /** @param messageBytesMax Largest message of this server. */
  constructor(messageBytesMax: number) {
    this.bytesMax = MESSAGES_HELD_MAX * messageBytesMax;
  }

  /** Takes so many bytes. @returns False where there is no room for them. */
  take(bytes: number): boolean {
    if (this.#usedBytes + bytes > this.bytesMax) return false;
    this.#usedBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#usedBytes -= bytes;
  }

  /** Why an answer is given up for which there is no room. */
  get refusal(): string {
    return (
      `the server has begun more answers than it completes: together they take more than ${this.bytesMax} bytes ` +
      `(${MESSAGES_HELD_MAX} times --message-bytes-max)`
    );
  }
}

/** Frames that bring no call forward, in one second: far above what any server sends. */
const FRAMES_PER_SECOND_MAX = 10_000;

/** Ends connections whose peer keeps this end busy with useless frames. */
export class FloodGuard {
  readonly #nowMs: () => number;
  #count = 0;
  #beginMs = 0;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Counts such a frame. @throws Http2Error ENHANCE_YOUR_CALM */
  count(): void {
    this.#count += 1;
    if (this.#count <= FRAMES_PER_SECOND_MAX) return;
    const nowMs = this.#nowMs();
    const isFlood = nowMs - this.#beginMs < 1_000;
    this.#count = 0;
    this.#beginMs = nowMs;
    if (!isFlood) return;
    const what = `more than ${FRAMES_PER_SECOND_MAX} frames in a second that bring no call forward`;
    throw new Http2Error('ENHANCE_YOUR_CALM', what);
  }
}
