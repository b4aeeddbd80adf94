import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { formatChecksumList } from '../../samples/data-set/checksum-list.ts';
import { isWithin } from '../tree/is-within.ts';
import type { Encryption } from './encryption.ts';
import { keysIn } from './keys-in-tree.ts';
import { tarStream } from './tar-stream.ts';
import { treeContents } from './tree-contents.ts';

/** What to pack. */
export interface Packing {
  readonly tree: string;
  /** The tarball; may not be there yet. */
  readonly output: string;
  /** Asked for once nothing else is wrong: it may make a key file. Answers undefined: no encryption. */
  readonly encryption: () => Promise<Encryption | undefined>;
  /** Key file, if any: it may not lie in the tree. */
  readonly keyFile?: string | undefined;
}

/** A tarball that was written. */
export interface PackedTree {
  readonly fileCount: number;
  /** Size of the tarball, encrypted where it is. */
  readonly bytes: number;
  readonly sha256: string;
  /** What MLCommons' pack_submission.sh compares. */
  readonly sha1: string;
}

/** Names of the files beside a tarball. */
export function sideFiles(
  output: string,
): Readonly<Record<'contents' | 'sha256' | 'sha1', string>> {
  return {
    /** SHA-256 of every file in the tarball, for `sha256sum -c` where it was unpacked. */
    contents: `${output}.SHA256SUMS`,
    sha256: `${output}.sha256`,
    sha1: `${output}.sha1`,
  };
}

/**
 * Packs every division of a tree into a gzip-compressed tarball, encrypted on its way to the disk, and writes lists of
 * checksums beside it: of its contents, as they stand in the tar, and of the file itself. Streamed. The same tree gives
 * the same tarball, until it is encrypted: that is different each time.
 * Rule: submission_rules, "placing an encrypted tarball in a MLCommons-provided cloud storage bucket".
 * @throws MlperfError `ERR_CONFIG_FILE` (see treeContents, or keys in the tree), `ERR_CONFIG_INVALID` (output or key
 *   file in the tree), `ERR_OUTPUT`
 */
export async function packTree({
  tree,
  output,
  encryption,
  keyFile,
}: Packing): Promise<PackedTree> {
  const side = sideFiles(output);
  checkPaths({ tree, output, keyFile });
  const files = treeContents(tree);
  refuseKeys(keysIn(tree, files, keyFile), tree);
  const encrypt = await encryption();
  const checksums = new Map<string, string>();
  const unfinished = unfinishedOf(output);
  try {
    const tar = Readable.from(tarStream(tree, files, checksums), { objectMode: false });
    const digests = await write(tar, encrypt, unfinished);
    await writeFile(side.contents, formatChecksumList(checksums));
    await writeFile(side.sha256, `${digests.sha256}  ${basename(output)}\n`);
    await writeFile(side.sha1, `${digests.sha1}  ${basename(output)}\n`);
    await rename(unfinished, output);
    return { fileCount: checksums.size, ...digests };
  } catch (error) {
    for (const path of [unfinished, ...Object.values(side)]) await rm(path, { force: true });
    if (error instanceof MlperfError) throw error;
    throw outputError(`cannot pack ${tree} into ${output}`, error);
  }
}

/** A tarball until it is whole; what an interrupted run left is written over. */
function unfinishedOf(output: string): string {
  return `${output}.unfinished`;
}

/**
 * Nothing is written over, into the tree, or in place of the key.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_OUTPUT`
 */
export function checkPaths({ tree, output, keyFile }: Omit<Packing, 'encryption'>): void {
  for (const [what, path] of [
    ['tarball', output],
    ['key file', keyFile],
  ] as const) {
    if (path === undefined || !isWithin(path, tree)) continue;
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `the ${what} ${path} must not lie in the tree ${tree}`,
    );
  }
  const written = [output, ...Object.values(sideFiles(output))];
  for (const path of [...written, unfinishedOf(output)]) {
    if (keyFile === undefined || resolve(keyFile) !== resolve(path)) continue;
    throw new MlperfError('ERR_CONFIG_INVALID', `${path} cannot be the key file and be written`);
  }
  for (const path of written) {
    if (!existsSync(path)) continue;
    throw new MlperfError(
      'ERR_OUTPUT',
      `${path} is there already: remove it or name another --output`,
    );
  }
}

function refuseKeys(keys: readonly string[], tree: string): void {
  if (keys.length === 0) return;
  const text = `${tree} has keys in it, which nobody is to be given: ${keys.join(', ')}`;
  throw new MlperfError('ERR_CONFIG_FILE', text);
}

async function write(
  tar: Readable,
  encryption: Encryption | undefined,
  path: string,
): Promise<Omit<PackedTree, 'fileCount'>> {
  const sha256 = createHash('sha256');
  const sha1 = createHash('sha1');
  const encrypt = encryption ?? ((plain: AsyncIterable<Buffer>) => plain);
  let bytes = 0;
  // A stream that opens the file itself may do so after a failure, when it was removed already.
  const file = await open(path, 'w');
  try {
    await pipeline(tar, createGzip(), encrypt, async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) {
        sha256.update(chunk);
        sha1.update(chunk);
        bytes += chunk.length;
        await file.appendFile(chunk);
      }
    });
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: sha256.digest('hex'), sha1: sha1.digest('hex') };
}
