import type { LinkTestResult } from '../../proto/gen/mlperf/network/v1/LinkTestResult.ts';

/** First byte of a message with load: field 2, bytes. */
const LOAD_TAG = 0x12;

/** True for a message of a link test that holds load. */
export function isLinkLoad(message: Uint8Array): boolean {
  return message[0] === LOAD_TAG;
}

/** What one end of a link test counted. Rates of it are of what came in a length of time, so no clocks are compared. */
export type LinkCount = Required<{
  readonly [K in keyof LinkTestResult]: number;
}>;

/** Counts the load of a link test at one end. */
export class LoadMeter {
  readonly #halfNs: number;
  readonly #beganBusy = performance.eventLoopUtilization();
  #firstAtNs = Number.NaN;
  #lastAtNs = Number.NaN;
  #bytes = 0;
  #halfAtNs = Number.NaN;
  #halfBytes = 0;
  #allBytes = 0;

  /** @param durationMs How long the load shall go. */
  constructor(durationMs: number) {
    this.#halfNs = (durationMs * 1e6) / 2;
  }

  /** Bytes of all messages with load. */
  get allBytes(): number {
    return this.#allBytes;
  }

  /** When the first load came or went, in ns; NaN before. */
  get firstAtNs(): number {
    return this.#firstAtNs;
  }

  /** A message with load has come, or has gone out. */
  add(bytes: number, atNs: number): void {
    this.#allBytes += bytes;
    this.#lastAtNs = atNs;
    // The first one only begins the time: nobody knows how long it took.
    if (Number.isNaN(this.#firstAtNs)) {
      this.#firstAtNs = atNs;
      return;
    }
    this.#bytes += bytes;
    if (Number.isNaN(this.#halfAtNs) && atNs - this.#firstAtNs >= this.#halfNs) {
      this.#halfAtNs = atNs;
      this.#halfBytes = this.#bytes;
    }
  }

  /** What was counted so far. */
  count(): LinkCount {
    const hasHalf = !Number.isNaN(this.#halfAtNs);
    return {
      bytes: this.#bytes,
      durationNs: this.#bytes === 0 ? 0 : this.#lastAtNs - this.#firstAtNs,
      laterBytes: hasHalf ? this.#bytes - this.#halfBytes : 0,
      laterDurationNs: hasHalf ? this.#lastAtNs - this.#halfAtNs : 0,
      busyShare: performance.eventLoopUtilization(this.#beganBusy).utilization,
    };
  }
}
