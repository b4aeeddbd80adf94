import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import type { CheckContext } from './check-context.ts';

/** Files that the official lists let lie beside the others. */
const TOLERATED: readonly string[] = ['mlperf_log_trace.json', 'results.json', '.gitkeep'];

/** Files of a power measurement beside the logs. */
export const POWER_LOG = 'spl.txt';

const LOGS: readonly string[] = [RUN_FILES.summary, RUN_FILES.detail];

/** What a folder has to hold, and what it may. */
export interface FileList {
  readonly needed: readonly string[];
  readonly allowed?: readonly string[];
}

/** performance/run_1, of a result and of a compliance test. */
export const PERFORMANCE_FILES: FileList = { needed: LOGS, allowed: [RUN_FILES.accuracy] };

/** accuracy/ of a result. */
export const ACCURACY_FILES: FileList = {
  needed: [...LOGS, RUN_FILES.accuracyText, RUN_FILES.accuracy],
};

/**
 * Compares a folder with the list of its files.
 * @returns False where the folder is not there: that is told, and nothing in it need be looked at.
 */
export function checkFileList(context: CheckContext, folder: string, list: FileList): boolean {
  const { listing, findings } = context;
  if (!listing.hasFolder(folder)) {
    findings.add('missing-folder', folder, 'There is no such folder.');
    return false;
  }
  const { files } = listing.entries(folder);
  for (const name of list.needed) {
    if (!files.includes(name)) {
      findings.add('missing-file', posix.join(folder, name), `${name} is missing.`);
    }
  }
  const known = [...list.needed, ...(list.allowed ?? []), ...TOLERATED];
  for (const name of files) {
    if (known.includes(name)) continue;
    findings.add('extra-file', posix.join(folder, name), `${name} is none of its files.`);
  }
  return true;
}

/** A required file that has something in it. @returns False where it has not. */
export function checkPresent(context: CheckContext, path: string): boolean {
  const { listing, findings } = context;
  const bytes = listing.bytesOf(path);
  if (bytes === undefined) findings.add('missing-file', path, 'There is no such file.');
  else if (bytes === 0) findings.add('empty-file', path, 'It has no bytes.');
  return bytes !== undefined && bytes > 0;
}
