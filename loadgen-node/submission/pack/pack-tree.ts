import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, type Stats } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Pack, Parser, type ReadEntry } from 'tar';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { formatChecksumList } from '../../samples/data-set/checksum-list.ts';
import { isWithin } from '../tree/is-within.ts';
import type { Encryption } from './encryption.ts';
import { type PackedFile, refuseKeys, treeContents } from './tree-contents.ts';

/** Time of every file in a tarball: equal trees give equal tarballs. */
const FILE_TIME = new Date(Date.UTC(2000, 0, 1));

/** A tree and where its tarball goes. */
export interface Packing {
  readonly tree: string;
  /** The tarball; may not be there yet. */
  readonly output: string;
  /**
   * Asked for once nothing else is wrong: it may make a key file. Answers undefined: no encryption.
   */
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
export function sideFiles(output: string) {
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
 * @throws MlperfError `ERR_CONFIG_FILE` (see treeContents and refuseKeys), `ERR_CONFIG_INVALID` (output or key
 *   file in the tree), `ERR_OUTPUT`
 */
export async function packTree(packing: Packing): Promise<PackedTree> {
  const { tree, output, encryption, keyFile } = packing;
  const side = sideFiles(output);
  checkPaths(packing);
  const files = treeContents(tree);
  refuseKeys(tree, files, keyFile);
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
    const text = `the ${what} ${path} must not lie in the tree ${tree}`;
    throw new MlperfError('ERR_CONFIG_INVALID', text);
  }
  const written = [output, ...Object.values(sideFiles(output))];
  for (const path of [...written, unfinishedOf(output)]) {
    if (keyFile === undefined || resolve(keyFile) !== resolve(path)) continue;
    throw new MlperfError('ERR_CONFIG_INVALID', `${path} cannot be the key file and be written`);
  }
  for (const path of written) {
    if (!existsSync(path)) continue;
    const text = `${path} is there already: remove it or name another --output`;
    throw new MlperfError('ERR_OUTPUT', text);
  }
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

/**
 * The bytes of a tar of some files, in their order, without owners, times and other traces of this machine.
 * @param checksums Gets the SHA-256 of each file by path, read out of the tar itself, once it is through.
 * @throws Error of the file system, or when a file changes while it is read.
 */
async function* tarStream(
  tree: string,
  files: readonly PackedFile[],
  checksums: Map<string, string>,
): AsyncGenerator<Buffer> {
  const pack = new Pack({
    ...{ cwd: tree, portable: true, mtime: FILE_TIME, strict: true },
    statCache: new Map(files.map(({ path, stats }) => [resolve(tree, path), plainStats(stats)])),
  });
  const parser = new Parser({ strict: true, onReadEntry: (entry) => digest(entry, checksums) });
  const isParsed = once(parser, 'end');
  // Awaited below; without this an error before that would end the process.
  isParsed.catch(() => {});
  for (const { path } of files) pack.add(path);
  pack.end();
  for await (const chunk of pack) {
    if (!parser.write(chunk)) await once(parser, 'drain');
    yield chunk;
  }
  parser.end();
  await isParsed;
}

function digest(entry: ReadEntry, checksums: Map<string, string>): void {
  const hash = createHash('sha256');
  entry.on('data', (chunk: Buffer) => hash.update(chunk));
  entry.on('end', () => checksums.set(entry.path, hash.digest('hex')));
}

/**
 * The rights that do not depend on a umask, and no second name: the tarball would have a link for
 * it.
 */
function plainStats(stats: Stats): Stats {
  const isProgram = (stats.mode & 0o100) !== 0;
  stats.mode = (stats.mode & ~0o7777) | (isProgram ? 0o755 : 0o644);
  stats.nlink = 1;
  return stats;
}
