import { Http2Error } from '../frames/http2-error.ts';

/** Frames that bring no call forward, in one second: far above what any server sends. */
const FRAMES_PER_SECOND_MAX = 10_000;

/** Ends connections whose peer keeps this end busy with frames that mean nothing. */
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
