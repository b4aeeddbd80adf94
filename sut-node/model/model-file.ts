import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { describeSystemError, modelError } from '../../shared/base/errors/mlperf-error.ts';

/** Paths of ONNX files by the name of their part. */
export type ModelParts = Readonly<Record<string, string>>;

/** Files of a model. */
export interface ModelFiles {
  /** The model; for several files its description. */
  readonly file: string;
  readonly parts?: ModelParts;
}

/** A file of a model, and its required SHA-256, lower-case hexadecimal. */
export interface DigestedFile {
  readonly modelFile: string;
  readonly sha256: string;
}

/** A model whose files have been read once. */
export interface DigestedModel extends DigestedFile {
  /** Files of a model of several files, by name; `modelFile` is then only for messages. */
  readonly parts?: Readonly<Record<string, DigestedFile>> | undefined;
}

/**
 * @param words Words accepted instead of a file, for a hint after a typing error.
 * @throws MlperfError `ERR_MODEL` if the file is missing or empty.
 */
export async function checkModelFile(path: string, words: readonly string[]): Promise<void> {
  let found: Stats;
  try {
    found = await stat(path);
  } catch (error) {
    const reason = describeSystemError(error);
    const hint = words.length === 0 ? '' : `; without a file there is: --model ${words.join(', ')}`;
    throw modelError(`model file ${path}: ${reason}${hint}`, error);
  }
  if (!found.isFile()) throw modelError(`model file ${path} is not a file`);
  if (found.size === 0) throw modelError(`model file ${path} is empty`);
}

/**
 * Checksum of a model file in lower-case hexadecimal.
 * @throws MlperfError `ERR_MODEL` if the file cannot be read.
 */
export async function fileDigest(file: string, algorithm: 'sha256' | 'md5'): Promise<string> {
  const hash = createHash(algorithm);
  try {
    await pipeline(createReadStream(file), hash);
  } catch (error) {
    const what = `model file ${file} cannot be read: ${describeSystemError(error)}`;
    throw modelError(what, error);
  }
  return hash.digest('hex');
}

/**
 * Checksums of a model's files. For several files it is the checksum of their checksums, one line
 * each, as sha256sum prints them for files named like the parts.
 * @throws MlperfError `ERR_MODEL` if a file cannot be read.
 */
export async function digestedModel({
  file: modelFile,
  parts,
}: ModelFiles): Promise<DigestedModel> {
  if (parts === undefined) return { modelFile, sha256: await fileDigest(modelFile, 'sha256') };
  const digested: Record<string, DigestedFile> = {};
  const lines = createHash('sha256');
  for (const [name, own] of Object.entries(parts)) {
    const sha256 = await fileDigest(own, 'sha256');
    digested[name] = { modelFile: own, sha256 };
    lines.update(`${sha256}  ${name}\n`);
  }
  return { modelFile, sha256: lines.digest('hex'), parts: digested };
}

/**
 * A buffer whose memory can be released. Node 20 has it, but the configured compiler library does
 * not.
 */
interface ResizableBuffer extends ArrayBuffer {
  resize(byteLength: number): void;
}
const ResizableBuffer = ArrayBuffer as unknown as new (
  byteLength: number,
  options: { readonly maxByteLength: number },
) => ResizableBuffer;

/**
 * Reads a model's file and checks that it has the checksum that the node reports. These bytes are
 * loaded, so every worker notices a file that changes while workers start.
 * @param sha256 Lower-case hexadecimal.
 * @param additionsTo Returns bytes to append, {@link ADDITIONS_BYTES_MAX} at most.
 * @throws MlperfError `ERR_MODEL`
 */
export async function readModelFile(
  file: string,
  sha256: string,
  additionsTo: (bytes: Uint8Array) => Uint8Array,
) {
  let buffer: ResizableBuffer;
  try {
    const handle = await open(file);
    try {
      buffer = await readWhole(handle);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const what = `model file ${file} cannot be read: ${describeSystemError(error)}`;
    throw modelError(what, error);
  }
  const bytes = new Uint8Array(buffer);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256) {
    throw modelError(
      `model file ${file} changed while the node started: its SHA-256 was ${sha256}, ` +
        `a worker read ${found}; start the node again when the file no longer changes`,
    );
  }
  const additions = additionsTo(bytes);
  buffer.resize(bytes.length + additions.length);
  // `bytes` has grown with the buffer.
  bytes.set(additions, bytes.length - additions.length);
  // `release` frees the memory at once: the garbage collector of an idle worker might not for
  // hours.
  return { bytes, release: () => buffer.resize(0) };
}

/** Room after the bytes of a file; memory is allocated only when used. */
const ADDITIONS_BYTES_MAX = 1024 ** 2;

/** The file's bytes in releasable memory; fewer if it was truncated meanwhile. */
async function readWhole(handle: FileHandle): Promise<ResizableBuffer> {
  const { size } = await handle.stat();
  const buffer = new ResizableBuffer(size, { maxByteLength: size + ADDITIONS_BYTES_MAX });
  let position = 0;
  while (position < size) {
    const { bytesRead } = await handle.read(new Uint8Array(buffer, position), 0, size - position);
    if (bytesRead === 0) break;
    position += bytesRead;
  }
  buffer.resize(position);
  return buffer;
}

/** Weights named by the rules. */
export interface ReferenceModel {
  /** Description, and how to get it, for people who have none. */
  readonly howToGet: string;
  /** Its files with published checksums; without checksums no file counts as the reference. */
  readonly files: readonly ReferenceFile[];
}

/**
 * A file identified by a checksum. MD5 only excludes accidents, but for some files nothing else is
 * published.
 */
interface ReferenceFile {
  readonly algorithm: 'sha256' | 'md5';
  /** Lower-case hexadecimal. */
  readonly digest: string;
}

/**
 * True if a file is one of the reference model's.
 * @param sha256 Checksum of the file, already known.
 * @throws MlperfError `ERR_MODEL` if the file cannot be read.
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
