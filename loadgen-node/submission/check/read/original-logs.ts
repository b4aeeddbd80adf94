import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { withReason } from '../../../../shared/base/errors/to-mlperf-error.ts';

/**
 * Accuracy logs before truncation: the backup folder of `longhaul submission truncate` with its numbered folders, one
 * of these, or any folder that is laid out as the tree is.
 */
export class OriginalLogs {
  readonly folder: string;
  readonly #parts: readonly string[];

  /** @throws MlperfError `ERR_CONFIG_FILE` when there is no such folder. */
  constructor(folder: string) {
    this.folder = folder;
    const names = withReason(
      `cannot read the originals in ${folder}`,
      () => readdirSync(folder),
      'ERR_CONFIG_FILE',
    );
    const numbers = names.filter((name) => /^\d+$/.test(name));
    this.#parts = ['', ...numbers].map((number) => join(folder, number));
  }

  /** Files that may be the original of a log; none where it is missing. @param path In the tree. */
  of(path: string): string[] {
    return this.#parts.map((part) => join(part, path)).filter((file) => existsSync(file));
  }
}
