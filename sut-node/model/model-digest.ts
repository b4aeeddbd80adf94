import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';
import type { ReferenceFile, ReferenceModel } from '../benchmarks/sut-benchmark.ts';

/**
 * Checksum of a model file in lower-case hexadecimal.
 * @throws MlperfError `ERR_MODEL` when the file cannot be read.
 */
export async function fileDigest(
  file: string,
  algorithm: ReferenceFile['algorithm'],
): Promise<string> {
  const hash = createHash(algorithm);
  try {
    await pipeline(createReadStream(file), hash);
  } catch (error) {
    const what = `model file ${file} cannot be read: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_MODEL', what, { cause: error });
  }
  return hash.digest('hex');
}

/**
 * True when a file is one of the reference model's.
 * @param sha256 Of the file, which is known already.
 * @throws MlperfError `ERR_MODEL` when the file cannot be read.
 */
export async function isReferenceFile(
  { files }: ReferenceModel,
  file: string,
  sha256: string,
): Promise<boolean> {
  const isKnown = (algorithm: ReferenceFile['algorithm'], digest: string): boolean =>
    files.some((known) => known.algorithm === algorithm && known.digest === digest);
  if (isKnown('sha256', sha256)) return true;
  if (!files.some(({ algorithm }) => algorithm === 'md5')) return false;
  return isKnown('md5', await fileDigest(file, 'md5'));
}
