import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { makeFolder } from '../../../shared/base/files/read-file.ts';
import {
  CHECKSUM_FILE,
  formatChecksumList,
  readChecksumList,
} from '../../samples/data-set/checksum-list.ts';
import { copyChecked, isWithin, orFail, replaceFile, sha256OfFile } from '../tree/file-work.ts';
import type { LogPlace } from './log-places.ts';

/**
 * Opens the folder of truncated logs' originals: `<number>/<path in the tree>`, and a list for
 * `sha256sum -c SHA256SUMS`. Its files are never replaced: of two different originals for one
 * place, the second goes into the next numbered folder, and the hash in accuracy.txt identifies the
 * original of a truncated log. Rule: submission_rules, "keep the original mlperf_log_accuracy.log
 * files inside their organization".
 * @param tree The originals must not be inside it: they would be submitted.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_DATA_SET` (damaged list), `ERR_OUTPUT`
 */
export async function openOriginals(folder: string, tree: string): Promise<Originals> {
  if (isWithin(folder, tree)) {
    throw configInvalid(
      `the originals must not lie in the tree: ${folder} is in ${tree}; name a folder elsewhere`,
    );
  }
  const list = join(folder, CHECKSUM_FILE);
  const checksums = new Map(existsSync(list) ? await readChecksumList(list) : []);
  /**
   * The first number whose folder has none of the files, or the same ones from an interrupted run.
   */
  const freeNumber = async (files: ReadonlyMap<string, string>): Promise<number> => {
    for (let number = 1; ; number += 1) {
      const differ = [...files].map(async ([file, checksum]) => {
        const path = join(folder, String(number), file);
        return existsSync(path) && (await sha256OfFile(path)) !== checksum;
      });
      if (!(await Promise.all(differ)).includes(true)) return number;
    }
  };
  return {
    folder,
    find: (place: LogPlace, sha256: string) => {
      const numbers = [...checksums].flatMap(([kept, checksum]) => {
        const [, number, path] = /^(\d+)\/(.*)$/s.exec(kept) ?? [];
        return checksum === sha256 && path === place.log ? [Number(number)] : [];
      });
      if (numbers.length === 0) return undefined;
      const latest = String(Math.max(...numbers));
      const text = posix.join(latest, place.text);
      return { log: posix.join(latest, place.log), text: checksums.has(text) ? text : undefined };
    },
    checksumOf: (kept: string) => checksums.get(kept),
    keep: async (place: LogPlace, sha256: string): Promise<void> => {
      const files = new Map([[place.log, sha256]]);
      const text = join(tree, place.text);
      if (existsSync(text)) files.set(place.text, await sha256OfFile(text));
      const number = await freeNumber(files);
      for (const [file, checksum] of files) {
        const kept = posix.join(String(number), file);
        const path = join(folder, kept);
        if (!existsSync(path)) await copyChecked(join(tree, file), path, checksum);
        checksums.set(kept, checksum);
      }
    },
    writeList: async (): Promise<void> => {
      await orFail('write', folder, () => makeFolder(folder));
      await replaceFile(join(folder, CHECKSUM_FILE), formatChecksumList(checksums));
    },
  };
}

/** An original log; its accuracy.txt is in the same numbered folder. */
interface KeptLog {
  readonly log: string;
  /** Undefined: there was no accuracy.txt before truncation. */
  readonly text: string | undefined;
}

/** Logs before their truncation, in a folder that is not submitted. */
export interface Originals {
  readonly folder: string;
  /** The latest original of a place with this hash; undefined if there is none. */
  readonly find: (place: LogPlace, sha256: string) => KeptLog | undefined;
  /** SHA-256 of a stored file. */
  readonly checksumOf: (kept: string) => string | undefined;
  /**
   * Stores a log and its accuracy.txt, if there is one. @throws MlperfError `ERR_OUTPUT`
   * @param sha256 Hash of the log.
   */
  readonly keep: (place: LogPlace, sha256: string) => Promise<void>;
  /** Writes the list, after all were stored. @throws MlperfError `ERR_OUTPUT` */
  readonly writeList: () => Promise<void>;
}
