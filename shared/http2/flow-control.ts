import { Http2Error, WINDOW_BYTES_LIMIT } from './frames.ts';

/**
 * Send window of a stream or connection. Below 0 after the peer reduced
 * SETTINGS_INITIAL_WINDOW_SIZE.
 */
export class SendWindow {
  bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /**
   * Adds room by WINDOW_UPDATE, or removes some by SETTINGS.
   * @param whose Named in the message.
   * @throws Http2Error FLOW_CONTROL_ERROR if the window becomes too large (RFC 9113, 6.9.1).
   */
  add(bytes: number, whose: 'a call' | 'the connection'): void {
    this.bytes += bytes;
    if (this.bytes <= WINDOW_BYTES_LIMIT) return;
    throw new Http2Error('FLOW_CONTROL_ERROR', `the window of ${whose} grew beyond 2^31 - 1`);
  }
}

/** Receive window of a stream or connection: updated in large steps. */
export class ReceiveWindow {
  readonly #bytesMax: number;
  /** Bytes received since the last WINDOW_UPDATE. */
  #usedBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Counts received bytes. @returns False if the peer exceeded the window. */
  use(bytes: number): boolean {
    this.#usedBytes += bytes;
    return this.#usedBytes <= this.#bytesMax;
  }

  /** Bytes for a WINDOW_UPDATE now; 0 while it is not worth a frame. */
  takeDue(): number {
    if (this.#usedBytes * 2 < this.#bytesMax) return 0;
    const bytes = this.#usedBytes;
    this.#usedBytes = 0;
    return bytes;
  }
}

/** Number of largest messages that fit: with the usual 64 MiB as much as a SUT node's queue. */
const MESSAGES_HELD_MAX = 4;

/**
 * Memory for incomplete responses of one server, over all of its connections: each may be as large
 * as a message, and only the server decides how many it begins.
 */
export class AnswerRoom {
  readonly bytesMax: number;
  #usedBytes = 0;

  /** @param messageBytesMax Largest message of this server. */
  constructor(messageBytesMax: number) {
    this.bytesMax = MESSAGES_HELD_MAX * messageBytesMax;
  }

  /** Takes `bytes`. @returns False if there is no room. */
  take(bytes: number): boolean {
    if (this.#usedBytes + bytes > this.bytesMax) return false;
    this.#usedBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#usedBytes -= bytes;
  }

  /** Why a response is given up for lack of room. */
  get refusal(): string {
    return (
      `the server began more responses than it completes: together they exceed ${this.bytesMax} bytes ` +
      `(${MESSAGES_HELD_MAX} times --message-bytes-max)`
    );
  }
}

/** Most useless frames per second: far above what any server sends. */
const FRAMES_PER_SECOND_MAX = 10_000;

/** Closes connections whose peer floods this end with useless frames. */
export class FloodGuard {
  readonly #nowMs: () => number;
  #count = 0;
  #beginMs = 0;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Counts a useless frame. @throws Http2Error ENHANCE_YOUR_CALM */
  count(): void {
    this.#count += 1;
    if (this.#count <= FRAMES_PER_SECOND_MAX) return;
    const nowMs = this.#nowMs();
    const isFlood = nowMs - this.#beginMs < 1_000;
    this.#count = 0;
    this.#beginMs = nowMs;
    if (!isFlood) return;
    const what = `more than ${FRAMES_PER_SECOND_MAX} frames in a second that advance no call`;
    throw new Http2Error('ENHANCE_YOUR_CALM', what);
  }
}
