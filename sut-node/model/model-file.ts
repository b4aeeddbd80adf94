import { stat } from 'node:fs/promises';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';

/** @throws MlperfError `ERR_MODEL` when there is no such file. */
export async function checkModelFile(path: string): Promise<void> {
  let isFile: boolean;
  try {
    isFile = (await stat(path)).isFile();
  } catch (error) {
    const reason = describeSystemError(error);
    throw new MlperfError('ERR_MODEL', `model file ${path}: ${reason}`, { cause: error });
  }
  if (!isFile) throw new MlperfError('ERR_MODEL', `model file ${path} is not a file`);
}
