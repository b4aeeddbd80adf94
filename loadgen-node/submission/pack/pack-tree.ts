import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, posix, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Pack, Parser, type ReadEntry } from 'tar';
import { MlperfError, outputError, withReason } from '../../../shared/base/errors/mlperf-error.ts';
import { statIfThere } from '../../../shared/base/files/read-file.ts';
import { formatChecksumList } from '../../samples/data-set/checksum-list.ts';
import { SUBMISSION_DIVISIONS } from '../rules/submission-rounds.ts';
import { isWithin } from '../tree/file-work.ts';
import type { Encryption } from './encryption.ts';

/** Time of every file in a tarball: equal trees give equal tarballs. */
const FILE_TIME = new Date(Date.UTC(2000, 0, 1));

/** A tree and the path of its tarball. */
interface Packing {
  readonly tree: string;
  /** Path of the tarball; must not exist yet. */
  readonly output: string;
  /**
   * Called after all other checks passed, since it may make a key file. Returns undefined for no
   * encryption.
   */
  readonly encryption: () => Promise<Encryption | undefined>;
  /** Key file, if any: must not be in the tree. */
  readonly keyFile?: string | undefined;
}

/** Names of the files beside a tarball. */
export function sideFiles(output: string) {
  return {
    /** SHA-256 of every file in the tarball, for `sha256sum -c` after unpacking. */
    contents: `${output}.SHA256SUMS`,
    sha256: `${output}.sha256`,
    sha1: `${output}.sha1`,
  };
}

/**
 * Packs every division of a tree into a gzip-compressed tarball, encrypted while it is written,
 * with checksum lists beside it: of its content as in the tar, and of the file itself. Streamed.
 * The same tree gives the same tarball, except for the encryption, which differs each time. Rule:
 * submission_rules, "placing an encrypted tarball in a MLCommons-provided cloud storage bucket".
 * @throws MlperfError `ERR_CONFIG_FILE` (see treeContents and refuseKeys), `ERR_CONFIG_INVALID`
 *   (output or key file in the tree), `ERR_OUTPUT`
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

/** A written tarball: number of files, size and digests. */
export interface PackedTree {
  readonly fileCount: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly sha1: string;
}

/** Temporary path of an incomplete tarball; an interrupted run's file is overwritten. */
function unfinishedOf(output: string): string {
  return `${output}.unfinished`;
}

/**
 * Checks that the tarball replaces no file, is not in the tree, and is not the key file.
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

/**
 * @returns Size and digests of the written file; MLCommons' pack_submission.sh compares the
 *   SHA-1.
 */
async function write(tar: Readable, encryption: Encryption | undefined, path: string) {
  const sha256 = createHash('sha256');
  const sha1 = createHash('sha1');
  const encrypt = encryption ?? ((plain: AsyncIterable<Buffer>) => plain);
  let bytes = 0;
  // A stream that opens the file itself may do so after a failure, when the file was already
  // removed.
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
 * A tar of some files, in order, without owners, times and other traces of this machine.
 * @param checksums Receives the SHA-256 of each file by path, computed from the tar itself, at
 *   the end.
 * @throws File system errors, or an error if a file changes while it is read.
 */
async function* tarStream(
  tree: string,
  files: readonly PackedFile[],
  checksums: Map<string, string>,
): AsyncGenerator<Buffer> {
  const pack = new Pack({
    cwd: tree,
    portable: true,
    mtime: FILE_TIME,
    strict: true,
    statCache: new Map(files.map(({ path, stats }) => [resolve(tree, path), plainStats(stats)])),
  });
  const parser = new Parser({ strict: true, onReadEntry: (entry) => digest(entry, checksums) });
  const isParsed = once(parser, 'end');
  // Awaited below; without this handler an earlier error would end the process.
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
 * File mode independent of a umask, and link count 1: otherwise the tarball would contain a hard
 * link.
 */
function plainStats(stats: Stats): Stats {
  const isProgram = (stats.mode & 0o100) !== 0;
  stats.mode = (stats.mode & ~0o7777) | (isProgram ? 0o755 : 0o644);
  stats.nlink = 1;
  return stats;
}

/** At most this many problems are named; the rest are counted. */
const TOLD_MAX = 20;

/** Texts beside the divisions. Source: the official checkers, "extra files in root". */
const ROOT_TEXT = /\.(md|pdf)$/;

/** Path of a truncated log's original in its backup folder. */
const KEPT_ORIGINAL = /(^|\/)\d+\/(closed|network|open)\/.*mlperf_log_accuracy\.json$/;

/** Start of a line with an age identity. */
const AGE_IDENTITY = /^AGE-SECRET-KEY-1/m;

/** Largest file searched for keys: key files have a few lines. */
const KEY_BYTES_MAX = 4096;

/** A file that goes into the tarball. */
interface PackedFile {
  /** Relative to the tree, with forward slashes. */
  readonly path: string;
  readonly stats: Stats;
}

/**
 * Every file of a tree, sorted by path.
 * @throws MlperfError `ERR_CONFIG_FILE` if it is not a tree, or contains what must not be
 *   submitted: links, files beside the divisions, originals of truncated logs, remains of an
 *   interrupted command.
 */
function treeContents(tree: string): PackedFile[] {
  const files: PackedFile[] = [];
  const problems: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of readOrRefuse(join(tree, folder), (path) => readdirSync(path))) {
      const path = posix.join(folder, name);
      const stats = lstatSync(join(tree, path));
      const problem = problemOf(path, stats);
      if (problem !== undefined) problems.push(problem);
      else if (stats.isDirectory()) folders.push(path);
      else files.push({ path, stats });
    }
  }
  if (problems.length > 0) {
    const told = problems.sort().slice(0, TOLD_MAX).join('; ');
    const more = problems.length - TOLD_MAX;
    const text = `${tree} has files that cannot be submitted: ${told}${more > 0 ? `; and ${more} more` : ''}`;
    throw new MlperfError('ERR_CONFIG_FILE', text);
  }
  const isInDivision = ({ path }: PackedFile): boolean => path.includes('/');
  if (!files.some(isInDivision)) {
    const wanted = SUBMISSION_DIVISIONS.join('/, ');
    throw new MlperfError(
      'ERR_CONFIG_FILE',
      `${tree} is no submission tree: no file in ${wanted}/`,
    );
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function problemOf(path: string, stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return `${path} is a link`;
  if (stats.isDirectory()) {
    const isDivision = (SUBMISSION_DIVISIONS as readonly string[]).includes(path);
    return isDivision || path.includes('/') ? undefined : `${path}/ is no division`;
  }
  if (!stats.isFile()) return `${path} is no plain file`;
  if (!path.includes('/') && !ROOT_TEXT.test(path)) return `${path} is no .md or .pdf`;
  if (path.endsWith('.unfinished')) {
    return `${path} was left by an interrupted command: run that again, or remove it`;
  }
  return KEPT_ORIGINAL.test(path) ? `${path} is the original of a truncated log` : undefined;
}

/**
 * Refuses files that are keys: copies of the key file, and age identities. A tarball with its own
 * key protects nothing, and one with another key discloses that key.
 * @param keyFile May not exist yet.
 * @throws MlperfError `ERR_CONFIG_FILE` for a tree with keys, and when a file cannot be read
 */
function refuseKeys(tree: string, files: readonly PackedFile[], keyFile: string | undefined): void {
  const isThere = keyFile !== undefined && statIfThere(keyFile)?.isFile() === true;
  const key = isThere ? readOrRefuse(keyFile, (path) => readFileSync(path)) : undefined;
  const keys = files.filter(({ path, stats: { size } }) => {
    if (size > Math.max(KEY_BYTES_MAX, key?.length ?? 0)) return false;
    const bytes = readOrRefuse(join(tree, path), (file) => readFileSync(file));
    return key?.equals(bytes) === true || AGE_IDENTITY.test(bytes.toString('latin1'));
  });
  if (keys.length === 0) return;
  const paths = keys.map(({ path }) => path).join(', ');
  const text = `${tree} has private keys in it, which must stay secret: ${paths}`;
  throw new MlperfError('ERR_CONFIG_FILE', text);
}

function readOrRefuse<T>(path: string, read: (path: string) => T): T {
  return withReason(`cannot read ${path}`, () => read(path), 'ERR_CONFIG_FILE');
}
