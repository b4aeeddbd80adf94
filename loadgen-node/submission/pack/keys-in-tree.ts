import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../shared/base/errors/to-mlperf-error.ts';
import type { PackedFile } from './tree-contents.ts';

/** How each line of an age identity begins. */
const AGE_IDENTITY = /^AGE-SECRET-KEY-1/m;

/** Key files are a few lines; nothing larger is looked into. */
const KEY_BYTES_MAX = 4096;

/**
 * Files of a tree that are keys: copies of the key file, and identities of age. A tarball that brings its own key could
 * be read by everybody who is given that key, and by nobody else; one that brings another gives that away.
 * @param keyFile It may not be there yet.
 * @throws MlperfError `ERR_CONFIG_FILE` when a file cannot be read
 */
export function keysIn(
  tree: string,
  files: readonly PackedFile[],
  keyFile: string | undefined,
): string[] {
  const stats = keyFile === undefined ? undefined : statSync(keyFile, { throwIfNoEntry: false });
  const key = stats?.isFile() === true ? read(keyFile as string) : undefined;
  const isKey = ({ path, stats: { size } }: PackedFile): boolean => {
    if (size > Math.max(KEY_BYTES_MAX, key?.length ?? 0)) return false;
    const bytes = read(join(tree, path));
    return key?.equals(bytes) === true || AGE_IDENTITY.test(bytes.toString('latin1'));
  };
  return files.filter(isKey).map(({ path }) => path);
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const text = `cannot read ${path}: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_CONFIG_FILE', text, { cause: error });
  }
}
