import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorCodeOf } from '../errors/to-mlperf-error.ts';

/**
 * Makes a folder and those above it, like `mkdir -p`. Not `mkdirSync` with `recursive`: that never
 * returns where a file system refuses new folders by "no such file" (/proc).
 * @throws Error of the file system.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  const target = resolve(path);
  let folder = target;
  while (!isFolder(folder, folder === target ? 'EEXIST' : 'ENOTDIR')) {
    missing.push(folder);
    folder = dirname(folder);
  }
  for (const next of missing.reverse()) makeOne(next);
}

/** @throws Error `codeOfFile` when the path is there and is no folder. */
function isFolder(path: string, codeOfFile: string): boolean {
  try {
    if (statSync(path).isDirectory()) return true;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false;
    // ENOTDIR: something above is a file; the walk upwards finds it.
    if (errorCodeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
  throw Object.assign(new Error(`${path} is not a folder`), { code: codeOfFile, syscall: 'mkdir' });
}

function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error; // Another process was faster.
  }
}
