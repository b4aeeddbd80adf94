import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/base/errors/to-mlperf-error.ts';

/**
 * @param words What may stand in place of a file: somebody may have mistyped one of them.
 * @throws MlperfError `ERR_MODEL` when there is no such file, or nothing in it.
 */
export async function checkModelFile(path: string, words: readonly string[]): Promise<void> {
  let found: Stats;
  try {
    found = await stat(path);
  } catch (error) {
    const reason = describeSystemError(error);
    const hint = words.length === 0 ? '' : `; without a file there is: --model ${words.join(', ')}`;
    throw new MlperfError('ERR_MODEL', `model file ${path}: ${reason}${hint}`, { cause: error });
  }
  if (!found.isFile()) throw new MlperfError('ERR_MODEL', `model file ${path} is not a file`);
  if (found.size === 0) throw new MlperfError('ERR_MODEL', `model file ${path} is empty`);
}
