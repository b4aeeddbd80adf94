import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { resolve } from 'node:path';
import { Pack, Parser, type ReadEntry } from 'tar';
import type { PackedFile } from './tree-contents.ts';

/** Time of every file in a tarball: equal trees give equal tarballs. */
const FILE_TIME: Date = new Date(Date.UTC(2000, 0, 1));

/**
 * The bytes of a tar of some files, in their order, without owners, times and other traces of this machine.
 * @param checksums Gets the SHA-256 of each file by path, read out of the tar itself, once it is through.
 * @throws Error of the file system, or when a file changes while it is read.
 */
export async function* tarStream(
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
  const hash: Hash = createHash('sha256');
  entry.on('data', (chunk: Buffer) => hash.update(chunk));
  entry.on('end', () => checksums.set(entry.path, hash.digest('hex')));
}

/** The rights that do not depend on a umask, and no second name: the tarball would have a link for it. */
function plainStats(stats: Stats): Stats {
  const isProgram = (stats.mode & 0o100) !== 0;
  stats.mode = (stats.mode & ~0o7777) | (isProgram ? 0o755 : 0o644);
  stats.nlink = 1;
  return stats;
}
