import { fileDigest } from './model-file.ts';

/** Weights that the rules name. */
export interface ReferenceModel {
  /** What it is and how to get it, for people who have none. */
  readonly howToGet: string;
  /** Its files as far as their checksums are published; with none of them no file passes for the reference. */
  readonly files: readonly ReferenceFile[];
}

/** A file known by a checksum. MD5 tells files apart by accident only, and for some it is all that there is. */
export interface ReferenceFile {
  readonly algorithm: 'sha256' | 'md5';
  /** Lower-case hexadecimal. */
  readonly digest: string;
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
