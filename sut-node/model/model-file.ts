import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
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

/** SHA-256 of a model's file, lower-case hexadecimal. @throws MlperfError `ERR_MODEL` when it cannot be read. */
export function modelSha256(file: string): Promise<string> {
  return modelDigest(file, 'sha256');
}

/** Checksum of a model's file, lower-case hexadecimal. @throws MlperfError `ERR_MODEL` when it cannot be read. */
export async function modelDigest(file: string, algorithm: 'sha256' | 'md5'): Promise<string> {
  const hash = createHash(algorithm);
  try {
    await pipeline(createReadStream(file), hash);
  } catch (error) {
    const what = `model file ${file} cannot be read: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_MODEL', what, { cause: error });
  }
  return hash.digest('hex');
}
