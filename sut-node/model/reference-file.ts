import type { ReferenceFile, ReferenceModel } from '../benchmarks/sut-benchmark.ts';
import { fileDigest } from './model-digest.ts';

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
