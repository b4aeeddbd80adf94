import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/base/errors/to-mlperf-error.ts';

/**
 * Checksum of a model file in lower-case hexadecimal.
 * @throws MlperfError `ERR_MODEL` when the file cannot be read.
 */
export async function fileDigest(file: string, algorithm: 'sha256' | 'md5'): Promise<string> {
  const hash = createHash(algorithm);
  try {
    await pipeline(createReadStream(file), hash);
  } catch (error) {
    const what = `model file ${file} cannot be read: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_MODEL', what, { cause: error });
  }
  return hash.digest('hex');
}
