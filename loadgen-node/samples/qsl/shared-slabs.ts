import { PLACE_NUMBERS, type SharedPayloads } from '../../../shared/domain/query-sample-library.ts';

/** A slab holds many payloads, or one that is larger. */
const SLAB_BYTES: number = 64 * 1024 * 1024;

/**
 * Payloads in SharedArrayBuffer, for transports on other threads. Space is taken in order and comes back
 * when all samples are unloaded, as between the sets of an accuracy run.
 */
export class SharedSlabs implements SharedPayloads {
  readonly places: SharedArrayBuffer;
  readonly hasPreparedQueries: boolean;
  readonly #table: Float64Array;
  readonly #slabs: SharedArrayBuffer[] = [];
  readonly #listeners: ((slab: SharedArrayBuffer) => void)[] = [];
  #current = -1;
  #used = 0;
  #heldCount = 0;

  constructor(sampleCount: number, hasPreparedQueries: boolean) {
    this.places = new SharedArrayBuffer(
      sampleCount * PLACE_NUMBERS * Float64Array.BYTES_PER_ELEMENT,
    );
    this.#table = new Float64Array(this.places);
    this.hasPreparedQueries = hasPreparedQueries;
  }

  onSlab(listener: (slab: SharedArrayBuffer) => void): void {
    this.#listeners.push(listener);
    for (const slab of this.#slabs) listener(slab);
  }

  /** Copies a payload in. @returns The view that holds it from now on. */
  hold(sampleIndex: number, payload: Uint8Array, bytesBeforeCompression: number): Uint8Array {
    const slab = this.#slabFor(payload.length);
    const view = new Uint8Array(slab, this.#used, payload.length);
    view.set(payload);
    const place = [this.#current, this.#used, payload.length, bytesBeforeCompression];
    this.#table.set(place, sampleIndex * PLACE_NUMBERS);
    this.#used += payload.length;
    this.#heldCount += 1;
    return view;
  }

  /** A payload is not needed any more. */
  release(): void {
    this.#heldCount -= 1;
    if (this.#heldCount > 0) return;
    this.#current = -1;
    this.#used = 0;
  }

  /** The slab with room for so many bytes behind `#used`. */
  #slabFor(bytes: number): SharedArrayBuffer {
    let slab = this.#slabs[this.#current];
    while (slab === undefined || this.#used + bytes > slab.byteLength) {
      this.#current += 1;
      this.#used = 0;
      slab = this.#slabs[this.#current] ?? this.#add(Math.max(SLAB_BYTES, bytes));
    }
    return slab;
  }

  #add(bytes: number): SharedArrayBuffer {
    const slab = new SharedArrayBuffer(bytes);
    this.#slabs.push(slab);
    for (const listener of this.#listeners) listener(slab);
    return slab;
  }
}
