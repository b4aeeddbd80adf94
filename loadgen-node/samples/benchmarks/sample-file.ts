import { readFile } from 'node:fs/promises';
import {
  dataSetError,
  describeSystemError,
  MlperfError,
} from '../../../shared/base/errors/mlperf-error.ts';

/**
 * Reads and decodes a sample's file when the sample is loaded: untimed.
 * @param place Position in the data set's list, for messages: `val_map.txt, line 3`.
 * @throws MlperfError `ERR_DATA_SET` with file and position; `ERR_NOT_INSTALLED` if the codec is
 *   missing
 */
export async function readSampleFile(
  path: string,
  place: string,
  decode: (file: Uint8Array) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  try {
    return await decode(await readFile(path));
  } catch (error) {
    // A missing codec is not a fault of the file.
    if (error instanceof MlperfError && error.code !== 'ERR_DATA_SET') throw error;
    throw dataSetError(`${path} (${place}): ${describeSystemError(error)}`, error);
  }
}
