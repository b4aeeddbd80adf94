import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../../shared/base/errors/to-mlperf-error.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../../shared/base/files/read-file.ts';

/** Reads a text that the configuration names. @throws MlperfError `ERR_CONFIG_FILE` */
export function readTextFile(path: string): string {
  try {
    return readBoundedText(path, FILE_BYTES_MAX.document);
  } catch (error) {
    const text = `cannot read ${path}: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_CONFIG_FILE', text, { cause: error });
  }
}
