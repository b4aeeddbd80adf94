import { createHash, randomBytes } from 'node:crypto';

/** Ids of a span, in hexadecimal digits. Rule: W3C Trace Context, trace-id and parent-id. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

const UINT32_COUNT = 2 ** 32;

/**
 * Decides which queries of a run become spans, and their ids. Both follow from the query number and
 * a seed of the run, so nothing is stored while queries go out: the spans are made after the run,
 * with the same ids.
 */
export class QuerySpanIds {
  readonly #share: number;
  readonly #seed: Buffer = randomBytes(16);
  readonly #salt: number = this.#seed.readUInt32LE(0);
  /** False in the accuracy run, which has no records for spans. */
  #isOn = false;

  /** @param share 0 to 1. */
  constructor(share: number) {
    this.#share = share;
  }

  /** The run's own span, in its own trace. */
  get ofRun(): SpanIds {
    return this.#idsOf('run');
  }

  turn(isOn: boolean): void {
    this.#isOn = isOn;
  }

  isSampled(query: number): boolean {
    return mixed(query ^ this.#salt) < this.#share * UINT32_COUNT;
  }

  /** Each query has its own trace: viewers show one trace at a time. */
  idsOf(query: number): SpanIds {
    return this.#idsOf(String(query));
  }

  /**
   * Traceparent header of a query's calls; undefined if the query is not sampled. Called when a
   * query goes out.
   */
  readonly traceparentOf = (query: number): string | undefined => {
    if (!this.#isOn || !this.isSampled(query)) return undefined;
    const { traceId, spanId } = this.idsOf(query);
    return `00-${traceId}-${spanId}-01`;
  };

  #idsOf(what: string): SpanIds {
    const digits = createHash('sha256').update(this.#seed).update(what).digest('hex');
    return { traceId: digits.slice(0, 32), spanId: digits.slice(32, 48) };
  }
}

/** A hash below 2^32 that separates neighbouring numbers (the last steps of MurmurHash3). */
function mixed(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
