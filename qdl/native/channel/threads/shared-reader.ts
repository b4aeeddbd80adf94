import assert from 'node:assert';
import {
  type PayloadEncoding,
  PLACE_NUMBERS,
  type PreparedQueryPayload,
  type SamplePayloads,
} from '../../../../shared/domain/query-sample-library.ts';
import type { ThreadStart } from './thread-messages.ts';

/** The sample library's payloads as another thread sees them: views into the shared slabs. */
export class SharedReader implements SamplePayloads {
  readonly encoding: PayloadEncoding;
  readonly preparedQueryPayload: SamplePayloads['preparedQueryPayload'];
  readonly #places: Float64Array;
  readonly #slabs: SharedArrayBuffer[] = [];

  constructor({ settings, places, hasPreparedQueries }: ThreadStart) {
    this.encoding = settings.encoding;
    this.#places = new Float64Array(places);
    if (!hasPreparedQueries) return;
    this.preparedQueryPayload = (sampleIndex): PreparedQueryPayload => ({
      payload: this.payloadOf(sampleIndex),
      sampleBytes: [this.#places[sampleIndex * PLACE_NUMBERS + 3] as number],
    });
  }

  /** Slabs come in the order of their numbers, before any part that lies in them. */
  addSlab(slab: SharedArrayBuffer): void {
    this.#slabs.push(slab);
  }

  payloadOf(sampleIndex: number): Uint8Array {
    const at = sampleIndex * PLACE_NUMBERS;
    const slab = this.#slabs[this.#places[at] as number];
    assert(slab !== undefined);
    return new Uint8Array(slab, this.#places[at + 1], this.#places[at + 2]);
  }
}
