import { accessSync, constants, statSync } from 'node:fs';
import { describeSystemError } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readBounded } from '../../../shared/base/files/read-file.ts';
import type { ConfFile } from '../../loadgen/settings/from-config.ts';

/** LoadGen's name of the file that it looks for in the working directory. */
const AUDIT_CONFIG = 'audit.config';

/** Opens a configuration file. Never throws: a missing file is reported in the result. */
export function openConfFile(path: string): ConfFile;
export function openConfFile(path: string | undefined): ConfFile | undefined;
export function openConfFile(path: string | undefined): ConfFile | undefined {
  if (path === undefined) return undefined;
  try {
    // As LoadGen reads it: a byte order mark stays in the text.
    const text = readBounded(path, FILE_BYTES_MAX.settings).toString('utf8');
    return { name: path, text };
  } catch (error) {
    return { name: path, text: null, obstacle: describeSystemError(error) };
  }
}

/** The audit.config for a run: the one in the settings, else that of the working directory. */
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
