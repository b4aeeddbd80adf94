import assert from 'node:assert';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { withReason } from '../../../shared/base/errors/mlperf-error.ts';
import { makeFolder } from '../../../shared/base/files/read-file.ts';

/**
 * Bytes of recently read payloads to cache: two parts, whose size is needed before they are cut.
 * With four times as much, V8 collects old ones by mark-compact, and LoadGen takes 0.9 ms more per
 * 245 KB instead of 0.15.
 */
const KEPT_BYTES_MAX: number = 8 * 1024 * 1024;

/**
 * Payloads in an unnamed file, which disappears with the process. The system caches what fits into
 * free memory, so that reading is a copy; the rest is read from disk on LoadGen's thread.
 */
export class PayloadFile {
  readonly #folder: string;
  readonly #places = new Map<number, { readonly offset: number; readonly length: number }>();
  readonly #kept = new Map<number, Uint8Array>();
  #keptBytes = 0;
  #file: number | undefined;
  #end = 0;

  /** @param folder Folder of the file; created if missing. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  has(index: number): boolean {
    return this.#places.has(index);
  }

  /** @throws MlperfError `ERR_CACHE` */
  add(index: number, payload: Uint8Array): void {
    const what = `samples cannot be kept in cache folder ${this.#folder}`;
    withReason(what, () => this.#write(payload), 'ERR_CACHE');
    this.#places.set(index, { offset: this.#end, length: payload.length });
    this.#end += payload.length;
  }

  #write(payload: Uint8Array): void {
    this.#file ??= openWithoutName(this.#folder);
    let done = 0;
    while (done < payload.length) {
      done += writeSync(this.#file, payload, done, payload.length - done, this.#end + done);
    }
  }

  /** The payload in newly allocated memory; undefined if missing. */
  read(index: number): Uint8Array | undefined {
    const place = this.#places.get(index);
    if (place === undefined) return undefined;
    const kept = this.#kept.get(index);
    if (kept !== undefined) return kept;
    const payload = Buffer.allocUnsafeSlow(place.length);
    for (let done = 0; done < place.length; ) {
      const { offset, length } = place;
      const count = readSync(this.#file as number, payload, done, length - done, offset + done);
      assert(count > 0);
      done += count;
    }
    this.#keep(index, payload);
    return payload;
  }

  #keep(index: number, payload: Uint8Array): void {
    this.#kept.set(index, payload);
    this.#keptBytes += payload.length;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#keptBytes <= KEPT_BYTES_MAX || oldest === index) return;
      this.#kept.delete(oldest);
      this.#keptBytes -= length;
    }
  }

  /** Removes a payload; removing the last one frees the space. */
  delete(index: number): void {
    this.#places.delete(index);
    this.#keptBytes -= this.#kept.get(index)?.length ?? 0;
    this.#kept.delete(index);
    if (this.#places.size > 0 || this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    this.#end = 0;
  }
}

function openWithoutName(folder: string): number {
  makeFolder(folder);
  const path = join(folder, `samples-${randomUUID()}`);
  const file = openSync(path, 'wx+', 0o600);
  rmSync(path);
  return file;
}
