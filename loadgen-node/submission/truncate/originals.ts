import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { makeFolder } from '../../../shared/base/files/read-file.ts';
import {
  CHECKSUM_FILE,
  type Checksums,
  formatChecksumList,
  readChecksumList,
} from '../../samples/data-set/checksum-list.ts';
import { copyChecked, isWithin, orFail, replaceFile, sha256OfFile } from '../tree/file-work.ts';
import type { LogPlace } from './log-places.ts';

/** An original that was kept: log and accuracy.txt lie in the same numbered folder. */
export interface KeptOriginal {
  readonly log: string;
  /** Absent where there was no accuracy.txt before the truncation. */
  readonly text?: string;
}

/**
 * The folder in which the originals of truncated logs are kept: `<number>/<path in the tree>`, and
 * a list that `sha256sum -c SHA256SUMS` reads. Nothing in it is ever written over: of two different
 * originals for one place the second lies in the folder of the next number, and the hash in
 * accuracy.txt says which one a truncated log is of.
 * Rule: submission_rules, "keep the original mlperf_log_accuracy.log files inside their
 * organization".
 */
export class Originals {
  readonly folder: string;
  readonly #checksums: Map<string, string>;

  private constructor(folder: string, checksums: Checksums) {
    this.folder = folder;
    this.#checksums = new Map(checksums);
  }

  /**
   * @param tree The originals may not lie in it: they would be handed in.
   * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_DATA_SET` (damaged list), `ERR_OUTPUT`
   */
  static async open(folder: string, tree: string): Promise<Originals> {
    if (isWithin(folder, tree)) {
      const text = `the originals must not lie in the tree: ${folder} is in ${tree}; name a folder elsewhere`;
      throw new MlperfError('ERR_CONFIG_INVALID', text);
    }
    const list = join(folder, CHECKSUM_FILE);
    return new Originals(folder, existsSync(list) ? await readChecksumList(list) : new Map());
  }

  /** The original of a place with this hash, the latest one; undefined: none is kept. */
  find(place: LogPlace, sha256: string): KeptOriginal | undefined {
    const numbers = [...this.#checksums].flatMap(([kept, checksum]) => {
      const [, number, path] = /^(\d+)\/(.*)$/s.exec(kept) ?? [];
      return checksum === sha256 && path === place.log ? [Number(number)] : [];
    });
    if (numbers.length === 0) return undefined;
    const folder = String(Math.max(...numbers));
    const log = posix.join(folder, place.log);
    const text = posix.join(folder, place.text);
    return this.#checksums.has(text) ? { log, text } : { log };
  }

  /** SHA-256 of a kept file. */
  checksumOf(kept: string): string | undefined {
    return this.#checksums.get(kept);
  }

  /**
   * Keeps a log and its accuracy.txt, if there is one. @throws MlperfError `ERR_OUTPUT`
   * @param sha256 Of the log.
   */
  async keep(tree: string, place: LogPlace, sha256: string): Promise<void> {
    const files = new Map([[place.log, sha256]]);
    const text = join(tree, place.text);
    if (existsSync(text)) files.set(place.text, await sha256OfFile(text));
    const number = await this.#freeNumber(files);
    for (const [file, checksum] of files) {
      const kept = posix.join(String(number), file);
      const path = join(this.folder, kept);
      if (!existsSync(path)) await copyChecked(join(tree, file), path, checksum);
      this.#checksums.set(kept, checksum);
    }
  }

  /**
   * The first number whose folder has none of the files, or has the same: an interrupted run left
   * them.
   */
  async #freeNumber(files: ReadonlyMap<string, string>): Promise<number> {
    for (let number = 1; ; number += 1) {
      const differ = [...files].map(async ([file, checksum]) => {
        const path = join(this.folder, String(number), file);
        return existsSync(path) && (await sha256OfFile(path)) !== checksum;
      });
      if (!(await Promise.all(differ)).includes(true)) return number;
    }
  }

  /** Writes the list, once all are kept. @throws MlperfError `ERR_OUTPUT` */
  async writeList(): Promise<void> {
    await orFail('write', this.folder, () => makeFolder(this.folder));
    await replaceFile(join(this.folder, CHECKSUM_FILE), formatChecksumList(this.#checksums));
  }
}
