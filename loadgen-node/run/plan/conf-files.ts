import { accessSync, constants, statSync } from 'node:fs';
import { describeSystemError } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readBounded } from '../../../shared/base/files/read-file.ts';
import type { ConfFile } from '../../loadgen/settings/from-config.ts';

/** LoadGen's name of the file that it looks for in the working directory. */
const AUDIT_CONFIG = 'audit.config';

/** Opens a configuration file. Never throws: a file that is not there is something to tell. */
export function openConfFile(path: string): ConfFile;
export function openConfFile(path: string | undefined): ConfFile | undefined;
export function openConfFile(path: string | undefined): ConfFile | undefined {
  if (path === undefined) return undefined;
  try {
    // As LoadGen has it: with a byte order mark, if there is one.
    const text = readBounded(path, FILE_BYTES_MAX.settings).toString('utf8');
    return { name: path, text };
  } catch (error) {
    return { name: path, text: null, obstacle: describeSystemError(error) };
  }
}

/** The audit.config that a run uses: the one that was named, else that of the working directory. */
export function openAuditConfig(path: string | undefined): ConfFile | undefined {
  if (path !== undefined) return openConfFile(path);
  return isReadableFile(AUDIT_CONFIG) ? openConfFile(AUDIT_CONFIG) : undefined;
}

function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false; // Not there: a run without audit, which is the usual one.
  }
}
