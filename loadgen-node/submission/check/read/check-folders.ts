import { posix } from 'node:path';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import type { CheckContext } from './sites.ts';

/** Files that the official lists let lie beside the others. */
const TOLERATED: readonly string[] = ['mlperf_log_trace.json', 'results.json', '.gitkeep'];

/** Files of a power measurement beside the logs. */
export const POWER_LOG = 'spl.txt';

/** Files that every run's folder needs. */
export const LOGS: readonly string[] = [RUN_FILES.summary, RUN_FILES.detail];

/** Whether a folder is there that has to be; a finding says so where not. */
export function needFolder({ listing, findings }: CheckContext, folder: string): boolean {
  const isThere = listing.hasFolder(folder);
  if (!isThere) findings.add('missing-folder', folder, 'There is no such folder.');
  return isThere;
}

/**
 * Compares a folder with the list of its files.
 * @param allowed Files that may lie there as well.
 * @returns False where the folder is not there: a finding says so, and nothing in it need be looked at.
 */
export function checkFileList(
  context: CheckContext,
  folder: string,
  needed: readonly string[],
  allowed: readonly string[],
): boolean {
  const { listing, findings } = context;
  if (!needFolder(context, folder)) return false;
  const { files } = listing.entries(folder);
  for (const name of needed) {
    if (files.includes(name)) continue;
    findings.add('missing-file', posix.join(folder, name), `${name} is missing.`);
  }
  for (const name of files) {
    if ([...needed, ...allowed, ...TOLERATED].includes(name)) continue;
    findings.add('extra-file', posix.join(folder, name), `${name} is none of its files.`);
  }
  return true;
}

/** A required file that has something in it. @returns False where it has not. */
export function checkPresent({ listing, findings }: CheckContext, path: string): boolean {
  const bytes = listing.bytesOf(path);
  if (bytes === undefined) findings.add('missing-file', path, 'There is no such file.');
  else if (bytes === 0) findings.add('empty-file', path, 'It has no bytes.');
  return bytes !== undefined && bytes > 0;
}
