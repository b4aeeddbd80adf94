import { readFile } from 'node:fs/promises';
import {
  dataSetError,
  describeSystemError,
  MlperfError,
} from '../../../shared/base/errors/mlperf-error.ts';

/**
 * Reads the file of a sample and decodes it, when the sample is loaded: untimed.
 * @param place Where the data set lists it, for people: `val_map.txt, line 3`.
 * @throws MlperfError `ERR_DATA_SET` naming file and place; `ERR_NOT_INSTALLED` of the codec
 */
export async function readSampleFile(
  path: string,
  place: string,
  decode: (file: Uint8Array) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  try {
    return await decode(await readFile(path));
  } catch (error) {
    // That the codec is not installed is no fault of the file.
    if (error instanceof MlperfError && error.code !== 'ERR_DATA_SET') throw error;
    throw dataSetError(`${path} (${place}): ${describeSystemError(error)}`, error);
  }
}
