import type { Open } from '../../../../proto/gen/mlperf/network/v1/Open.ts';
import type { Opened__Output } from '../../../../proto/gen/mlperf/network/v1/Opened.ts';
import type { OwnSide } from '../../../../shared/evidence/call-path.ts';
import type { StreamEvidence } from '../../../../shared/evidence/evidence-schema.ts';

/** Totals of samples and payload bytes. */
interface Totals {
  readonly samples: number;
  readonly bytes: number;
}

/** Credit of a node on one stream, and how much of it was sent. Totals of the stream; hot path: numbers only. */
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

  /** @param samples Below 0, with their bytes: they were not sent after all. */
  take(samples: number, bytes: number): void {
    this.#sentSamples += samples;
    this.#sentBytes += bytes;
  }

  /**
   * Takes a grant; totals only grow. Messages of a stream come in their order, so a smaller total was never true.
   * @returns What is wrong with it, as in `NodeClaim`; undefined: nothing.
   */
  grant({ samples, bytes }: Totals): string | undefined {
    const [samplesBefore, bytesBefore] = [this.#grantedSamples, this.#grantedBytes];
    this.#grantedSamples = Math.max(samplesBefore, samples);
    this.#grantedBytes = Math.max(bytesBefore, bytes);
    if (samples >= samplesBefore && bytes >= bytesBefore) return undefined;
    return (
      `took credit back, from ${samplesBefore} samples and ${bytesBefore} bytes to ${samples} and ${bytes}; ` +
      'the larger one counts'
    );
  }
}

/** Parts of a channel that open its stream again. */
export interface Reopening {
  /** Longest wait for Opened, in ms. */
  readonly timeoutMs: number;
  /**
   * Open of the next stream: a number of its own, since a node takes a number that it knows for an Open that was repeated.
   * @param count Streams of the channel before it.
   */
  openOf(count: number): Open;
  /**
   * Checks the node's answer, and counts the stream.
   * @param call This end's view of the stream's call. @param reason Why the one before it ended.
   * @throws MlperfError where it is another node, or has other terms.
   */
  accept(
    call: Pick<StreamEvidence, 'compressionCheck'> & { readonly own: OwnSide },
    opened: Opened__Output,
    reason: string,
  ): void;
}

/** Streams that end sooner after they were opened, without an answer on them: so many in a row are an error. */
const SHORT_STREAM_MS = 1_000;
const SHORT_STREAMS_MAX = 3;

/** Bounds how often a stream that ends with nothing outstanding is opened again. */
export class ReopenLimit {
  #openedAtMs = 0;
  #shortCount = 0;

  onOpened(): void {
    this.#openedAtMs = performance.now();
  }

  /** The stream is of use. Hot path. */
  onAnswer(): void {
    this.#shortCount = 0;
  }

  /** The stream has ended. @returns Whether another one may be opened. */
  allowsAnother(): boolean {
    const isShort = performance.now() - this.#openedAtMs < SHORT_STREAM_MS;
    this.#shortCount = isShort ? this.#shortCount + 1 : 0;
    return this.#shortCount <= SHORT_STREAMS_MAX;
  }
}
