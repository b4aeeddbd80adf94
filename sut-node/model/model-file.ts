import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';

/** @throws MlperfError `ERR_MODEL` when there is no such file, or nothing in it. */
export async function checkModelFile(path: string): Promise<void> {
  let found: Stats;
  try {
    found = await stat(path);
  } catch (error) {
    const reason = describeSystemError(error);
    throw new MlperfError('ERR_MODEL', `model file ${path}: ${reason}`, { cause: error });
  }
  if (!found.isFile()) throw new MlperfError('ERR_MODEL', `model file ${path} is not a file`);
  if (found.size === 0) throw new MlperfError('ERR_MODEL', `model file ${path} is empty`);
}
