import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** Makes an empty folder that is deleted when the running test ends. Call it inside a test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const made: string[] = [];

/** Deletes what {@link suiteFolder} made. */
export function removeSuiteFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}

// Where test files share modules, each-file.ts registers it for the files behind the first.
afterAll(removeSuiteFolders);

/** Makes an empty folder that is deleted after the last test of the file. */
export function suiteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-test-'));
  made.push(folder);
  return folder;
}

/**
 * Cache folder of all integration tests. It outlives the test run on purpose: images of digits are
 * drawn once per machine, and the cache checks them on every opening. Several test processes may
 * use it at once.
 */
export function testCacheFolder(): string {
  return join(tmpdir(), 'longhaul-test-cache');
}

/**
 * Writes files by their paths, and the folders that they need; by default into a
 * {@link tempFolder}.
 */
export function writeTree(
  files: Readonly<Record<string, string | Uint8Array>>,
  folder: string = tempFolder(),
): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** Text of a file below a folder. */
export const textOf = (folder: string, path: string): string =>
  readFileSync(join(folder, path), 'utf8');

/** Every file of a folder by its path, as text. */
export function readTree(folder: string): Record<string, string> {
  return Object.fromEntries(filesOf(folder).map((path) => [path, textOf(folder, path)]));
}

/** Sorted paths of all files below a folder, relative to it. */
export function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
