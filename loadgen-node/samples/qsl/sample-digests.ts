import assert from 'node:assert';
import { sha256Words } from '../../../shared/evidence/payload-digest.ts';

/**
 * Digests of the loaded samples for the ledger: each stored payload is digested once, when it is loaded,
 * untimed. The digest is of the bytes as they travel. 32 B and an object per sample.
 */
export class SampleDigests {
  readonly #digests: (Uint32Array | undefined)[] = [];

  /** @param payload What the sample library stores, after any compression. */
  add(sampleIndex: number, payload: Uint8Array): void {
    this.#digests[sampleIndex] = sha256Words([payload]);
  }

  remove(sampleIndex: number): void {
    this.#digests[sampleIndex] = undefined;
  }

  /** Hot path. */
  digestOf(sampleIndex: number): Uint32Array {
    const digest = this.#digests[sampleIndex];
    assert(digest !== undefined);
    return digest;
  }
}
