import { dataSetError, modelError } from '../../base/errors/mlperf-error.ts';
import { CLASS_COUNT } from './digit-sets.ts';

/**
 * The response of one sample in the benchmark `digits`, as the SUT sends it, as the accuracy log
 * holds it and as the accuracy script reads it: the class, 0 to 9, as one 32-bit little-endian
 * integer.
 */
const RESPONSE_BYTES = 4;

/** @throws MlperfError `ERR_MODEL` for a label outside the benchmark's classes. */
export function encodeResponse(label: number): Uint8Array {
  if (!isClass(label)) {
    throw modelError(
      `the model answered class ${label}; the benchmark digits has the classes 0 to ${CLASS_COUNT - 1}`,
    );
  }
  const response = new Uint8Array(RESPONSE_BYTES);
  viewOf(response).setInt32(0, label, true);
  return response;
}

/** @throws MlperfError `ERR_DATA_SET` for bytes that are not a response of this benchmark. */
export function decodeResponse(response: Uint8Array): number {
  if (response.length !== RESPONSE_BYTES) {
    throw dataSetError(
      `a response of digits has ${RESPONSE_BYTES} bytes, this one has ${response.length}`,
    );
  }
  const label = viewOf(response).getInt32(0, true);
  if (!isClass(label)) {
    throw dataSetError(
      `a response of digits is a class from 0 to ${CLASS_COUNT - 1}, this one is ${label}`,
    );
  }
  return label;
}

function isClass(label: number): boolean {
  return Number.isInteger(label) && label >= 0 && label < CLASS_COUNT;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
