import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { z } from 'zod';
import { distFolder, packageVersion } from '../../../shared/base/files/package-files.ts';
import { writeText } from '../../../shared/base/files/read-file.ts';
import type { SelfCheck } from '../../loadgen/logs/write/header-lines.ts';

/*
 * Compares the package's compiled files and their data (rounds, models, images) with a list of
 * hashes made at build time. It detects files edited later; it cannot detect someone who edits both
 * files and list (docs/benchmarks.md).
 */

/** Name of the list in `dist/`. */
const MANIFEST = 'manifest.json';
/**
 * Folders of a clone that are never in a package: compiled tests and benches, and the program that
 * makes the packages.
 */
const NOT_SHIPPED: readonly string[] = [`test${sep}`, `deploy${sep}`];

/** SHA-256 in hex of the files in `dist/`, by path with `/`. */
type FileHashes = Readonly<Record<string, string>>;

const manifestSchema = z.object({
  version: z.string(),
  sha256: z.record(z.string(), z.string()),
});

type Manifest = z.infer<typeof manifestSchema>;

/** Hashes the program's own files and compares them with the manifest. */
export function checkSelf(folder: string = distFolder()): SelfCheck {
  const files = hashFiles(folder);
  const manifest = readManifest(folder);
  const differingFiles = manifest === null ? [] : differences(files, manifest.sha256);
  const state = differingFiles.length > 0 ? 'modified' : 'unmodified';
  return {
    version: packageVersion(),
    hash: hashOfList(files),
    state: manifest === null ? 'no-manifest' : state,
    differingFiles,
    files,
  };
}

/**
 * Writes the manifest of the current files: a step of the build. @throws MlperfError `ERR_OUTPUT`
 */
export function writeManifest(folder: string = distFolder()): SelfCheck {
  const manifest: Manifest = { version: packageVersion(), sha256: { ...hashFiles(folder) } };
  writeText(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`);
  return checkSelf(folder);
}

function hashFiles(folder: string): FileHashes {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:js|html|conf|gz|onnx)$/.test(path))
    .filter((path) => !NOT_SHIPPED.some((folder) => path.startsWith(folder)))
    .sort();
  return Object.fromEntries(
    paths.map((path) => [path.replaceAll(sep, '/'), sha256(readFileSync(join(folder, path)))]),
  );
}

/** Null without a list. A damaged list counts as empty: then every file differs. */
function readManifest(folder: string): Manifest | null {
  let text: string;
  try {
    text = readFileSync(join(folder, MANIFEST), 'utf8');
  } catch {
    return null;
  }
  const damaged: Manifest = { version: '', sha256: {} };
  try {
    return manifestSchema.safeParse(JSON.parse(text)).data ?? damaged;
  } catch {
    return damaged;
  }
}

function differences(files: FileHashes, expected: FileHashes): string[] {
  const paths = new Set([...Object.keys(files), ...Object.keys(expected)]);
  return [...paths].filter((path) => files[path] !== expected[path]).sort();
}

function hashOfList(files: FileHashes): string {
  return sha256(
    Object.entries(files)
      .map(([path, hash]) => `${hash}  ${path}\n`)
      .join(''),
  );
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
