import { dataSetError } from '../errors/mlperf-error.ts';

/**
 * @param what Names the bytes in the message: `the response for sample 3`.
 * @throws MlperfError `ERR_DATA_SET` if they are not UTF-8.
 */
export function utf8Text(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw dataSetError(`${what} is not UTF-8 text`, error);
  }
}
