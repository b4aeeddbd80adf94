import type { Open } from '../../../../proto/gen/mlperf/network/v1/Open.ts';
import type { Opened__Output } from '../../../../proto/gen/mlperf/network/v1/Opened.ts';
import type { OwnSide } from '../../../../shared/evidence/call-path.ts';
import type { StreamEvidence } from '../../../../shared/evidence/evidence-schema.ts';

/** Totals of samples and payload bytes since the stream began. */
interface Totals {
  readonly samples: number;
  readonly bytes: number;
}

/**
 * Credit of a node on one stream, and the part of it that was used. Totals of the stream; hot path:
 * numbers only.
 */
export class GrantedCredit {
  #grantedSamples = 0;
  #grantedBytes = 0;
  #sentSamples = 0;
  #sentBytes = 0;

  hasFor(samples: number, bytes: number): boolean {
    return (
      this.#sentSamples + samples <= this.#grantedSamples &&
      this.#sentBytes + bytes <= this.#grantedBytes
    );
  }

  /** @param samples Below 0, with their bytes, for samples that were not sent after all. */
  take(samples: number, bytes: number): void {
    this.#sentSamples += samples;
    this.#sentBytes += bytes;
  }

  /**
   * Takes a Credit message; its totals may only grow. Messages of a stream arrive in order, so a
   * smaller total is false.
   * @returns What is wrong, as in `NodeClaim`; undefined if nothing is.
   */
  grant({ samples, bytes }: Totals): string | undefined {
    const [samplesBefore, bytesBefore] = [this.#grantedSamples, this.#grantedBytes];
    this.#grantedSamples = Math.max(samplesBefore, samples);
    this.#grantedBytes = Math.max(bytesBefore, bytes);
    if (samples >= samplesBefore && bytes >= bytesBefore) return undefined;
    return (
      `reduced its credit from ${samplesBefore} samples and ${bytesBefore} bytes to ${samples} and ${bytes}; ` +
      'the larger one stays in force'
    );
  }
}

/** Callbacks and limits to open a channel's stream again. */
export interface Reopening {
  /** Longest wait for Opened, in ms. */
  readonly timeoutMs: number;
  /**
   * Open of the next stream. It has a new number, since a node treats a known number as a repeated
   * Open.
   * @param count Earlier streams of the channel.
   */
  openOf(count: number): Open;
  /**
   * Checks the node's Opened, and counts the stream.
   * @param call This end's view of the stream's call. @param reason Why the previous stream ended.
   * @throws MlperfError if it is another node, or has other terms.
   */
  accept(
    call: Pick<StreamEvidence, 'compressionCheck'> & { readonly own: OwnSide },
    opened: Opened__Output,
    reason: string,
  ): void;
}

/**
 * A stream that ends sooner after opening, without a response, is short; several in a row are an
 * error.
 */
const SHORT_STREAM_MS = 1_000;
const SHORT_STREAMS_MAX = 3;

/** Bounds how often an idle stream that ended is opened again. */
export class ReopenLimit {
  #openedAtMs = 0;
  #shortCount = 0;

  onOpened(): void {
    this.#openedAtMs = performance.now();
  }

  /** A response came, so the stream is useful. Hot path. */
  onAnswer(): void {
    this.#shortCount = 0;
  }

  /** The stream ended. @returns True if another one may be opened. */
  allowsAnother(): boolean {
    const isShort = performance.now() - this.#openedAtMs < SHORT_STREAM_MS;
    this.#shortCount = isShort ? this.#shortCount + 1 : 0;
    return this.#shortCount <= SHORT_STREAMS_MAX;
  }
}
