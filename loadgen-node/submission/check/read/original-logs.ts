import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { withReason } from '../../../../shared/base/errors/to-mlperf-error.ts';

/** Accuracy logs before truncation. */
export type OriginalLogs = ReturnType<typeof originalLogs>;

/**
 * Finds accuracy logs as they were before truncation.
 * @param folder The backup folder of `longhaul submission truncate` with its numbered folders, one of these, or any folder
 *   that is laid out as the tree is.
 * @throws MlperfError `ERR_CONFIG_FILE` when there is no such folder.
 */
export function originalLogs(folder: string) {
  const names = withReason(
    `cannot read the originals in ${folder}`,
    () => readdirSync(folder),
    'ERR_CONFIG_FILE',
  );
  const parts = ['', ...names.filter((name) => /^\d+$/.test(name))];
  return {
    folder,
    /** Files that may be the original of a log; none where it is missing. @param path In the tree. */
    of: (path: string) => parts.map((part) => join(folder, part, path)).filter(existsSync),
  };
}
