import { dataSetError } from '../errors/mlperf-error.ts';

/**
 * @param what Bytes, for people: `the response for sample 3`.
 * @throws MlperfError `ERR_DATA_SET` where they are no UTF-8.
 */
export function utf8Text(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw dataSetError(`${what} is no text in UTF-8`, error);
  }
}
