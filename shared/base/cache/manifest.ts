import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { FILES_AT_ONCE, forEachIndex } from '../async.ts';
import { at } from '../at.ts';
import { describeSystemError, errorCodeOf } from '../errors/mlperf-error.ts';

/** File that lists an artifact's files; written last, so its presence means a complete artifact. */
export const MANIFEST_FILE = 'manifest.json';

/**
 * Raise when the layout of the manifest changes: older folders then count as damaged and are made
 * again.
 */
const MANIFEST_VERSION = 1;

/** Files between two progress reports: more than a small artifact has. */
const PROGRESS_STEP = 2000;

const MANIFEST = z.object({
  version: z.literal(MANIFEST_VERSION),
  name: z.string(),
  /** Recipe of the artifact, for people. */
  recipe: z.string(),
  files: z.array(
    z.object({
      /** Relative to the folder, with forward slashes. */
      path: z.string(),
      sizeBytes: z.int().min(0),
      /** Hexadecimal. */
      sha256: z.string().length(64),
    }),
  ),
});

type Manifest = z.infer<typeof MANIFEST>;
type ManifestEntry = Manifest['files'][number];

/** Writes the manifest of all files that lie in `folder` and below. */
export async function writeFolderManifest(
  folder: string,
  name: string,
  recipe: string,
): Promise<void> {
  const paths = await listFiles(folder);
  const files: ManifestEntry[] = [];
  await forEachIndex(paths.length, FILES_AT_ONCE, async (i) => {
    const path = at(paths, i);
    const { size } = await stat(join(folder, path));
    files[i] = { path, sizeBytes: size, sha256: await hashFile(join(folder, path)) };
  });
  const manifest: Manifest = { version: MANIFEST_VERSION, name, recipe, files };
  await writeFile(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/**
 * Compares every file of `folder` with its manifest, by size and checksum.
 * @param onProgress Called with the fraction done, 0 to 1, if there are many files: 50,000 take 14
 * s.
 * @returns `undefined` if all match, `absent` without such a folder, otherwise the fault.
 */
export async function findFlaw(
  folder: string,
  onProgress: (fraction: number, what: string) => void,
): Promise<string | undefined> {
  try {
    await stat(folder);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return 'absent';
    return describeSystemError(error);
  }
  const manifest = await readManifest(folder);
  if (typeof manifest === 'string') return manifest;
  const flaws: string[] = [];
  const { length } = manifest.files;
  await forEachIndex(length, FILES_AT_ONCE, async (i) => {
    if (i > 0 && i % PROGRESS_STEP === 0) {
      onProgress(i / length, `checking ${length} files in ${folder}`);
    }
    const entry = at(manifest.files, i);
    const flaw = await findFileFlaw(folder, entry);
    if (flaw !== undefined) flaws.push(`${entry.path}: ${flaw}`);
  });
  return flaws[0];
}

/**
 * SHA-256 in hexadecimal by path, of the files in a folder's manifest.
 * @returns undefined without a manifest of this project.
 */
export async function readManifestChecksums(
  folder: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  const manifest = await readManifest(folder);
  if (typeof manifest === 'string') return undefined;
  return new Map(manifest.files.map(({ path, sha256 }) => [path, sha256]));
}

/** @returns The manifest, or its fault. */
async function readManifest(folder: string): Promise<Manifest | string> {
  try {
    const text = await readFile(join(folder, MANIFEST_FILE), 'utf8');
    const result = MANIFEST.safeParse(JSON.parse(text));
    return result.success ? result.data : `${MANIFEST_FILE} is of another version or damaged`;
  } catch (error) {
    return `${MANIFEST_FILE}: ${describeSystemError(error)}`;
  }
}

async function findFileFlaw(folder: string, entry: ManifestEntry): Promise<string | undefined> {
  const path = join(folder, entry.path);
  try {
    const { size } = await stat(path);
    if (size !== entry.sizeBytes) return `${size} bytes instead of ${entry.sizeBytes}`;
    return (await hashFile(path)) === entry.sha256 ? undefined : 'the checksum differs';
  } catch (error) {
    return describeSystemError(error);
  }
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .map((path) => path.split(sep).join('/'))
    .sort();
}

/** SHA-256 of a file in hexadecimal; file system errors pass unchanged. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
