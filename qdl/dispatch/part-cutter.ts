import assert from 'node:assert';
import type { SamplePayloads } from '../../shared/domain/system-under-test.ts';
import type { OutgoingPart, OutgoingSample } from './dispatch-channel.ts';
import type { OutstandingTable } from './outstanding-table.ts';
import type { WaitingQueries } from './waiting-queries.ts';

/** Limits of a part that every channel takes. */
export interface PartLimits {
  /** Payload bytes of a part with more than one sample. */
  readonly bytesMax: number;
  readonly samplesMax: number;
  /** Largest sample that every node takes. */
  readonly sampleBytesMax: number;
}

/**
 * Cuts the first waiting query into parts at sample borders. A query that fits is one part; a part
 * never holds two queries.
 *
 * `plan()` sizes the next part, the router finds a channel for it, `cut()` makes it.
 */
export class PartCutter {
  readonly #waiting: WaitingQueries;
  readonly #payloads: SamplePayloads;
  #limits: PartLimits = { bytesMax: 0, samplesMax: 0, sampleBytesMax: 0 };
  /** The plan holds until a part is cut: while credit is short, each response asks for it again. */
  #isPlanned = false;
  /** Samples and payload bytes of the next part, set by plan(). */
  sampleCount = 0;
  bytes = 0;

  constructor(waiting: WaitingQueries, payloads: SamplePayloads) {
    this.#waiting = waiting;
    this.#payloads = payloads;
  }

  setLimits(limits: PartLimits): void {
    assert(limits.bytesMax >= 1);
    assert(limits.samplesMax >= 1);
    this.#limits = limits;
  }

  /** Forgets the plan, because its query was given up. */
  reset(): void {
    this.#isPlanned = false;
  }

  /** True if no node takes the next sample, so it must fail. */
  get isTooLarge(): boolean {
    return this.#payloadOf(0).length > this.#limits.sampleBytesMax;
  }

  /** Sizes the next part of the first waiting query. Requires a waiting query. */
  plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    const { bytesMax, samplesMax } = this.#limits;
    const rest = Math.min(this.#waiting.headRestCount, samplesMax);
    let bytes = this.#payloadOf(0).length;
    let count = 1;
    while (count < rest) {
      const next = this.#payloadOf(count).length;
      if (bytes + next > bytesMax) break;
      bytes += next;
      count += 1;
    }
    this.sampleCount = count;
    this.bytes = bytes;
  }

  /** Makes the planned part for a channel that can take it, and moves the waiting query on. */
  cut(outstanding: OutstandingTable): OutgoingPart {
    this.#isPlanned = false;
    const { sampleCount, bytes } = this;
    const query = this.#waiting.headQueryId;
    const querySampleCount = this.#waiting.headSampleCount;
    const samples: OutgoingSample[] = [];
    for (let i = 0; i < sampleCount; i += 1) {
      const id = outstanding.acquire(this.#waiting.headResponseId(i));
      const sampleIndex = this.#waiting.headSampleIndex(i);
      samples.push({ id, sampleIndex, payload: this.#payloads.payloadOf(sampleIndex) });
    }
    this.#waiting.advance(sampleCount);
    return { query, querySampleCount, samples, bytes };
  }

  #payloadOf(i: number): Uint8Array {
    return this.#payloads.payloadOf(this.#waiting.headSampleIndex(i));
  }
}
