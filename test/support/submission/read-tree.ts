import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';

/** Paths of all files below a folder, relative to it; there must be no link and no empty folder. */
export function filesOf(folder: string, root: string = folder): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  expect(entries, folder).not.toEqual([]);
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    expect(entry.isSymbolicLink(), path).toBe(false);
    return entry.isDirectory() ? filesOf(path, root) : [relative(root, path)];
  });
}

export function textOf(tree: string, path: string): string {
  return readFileSync(join(tree, path), 'utf8');
}

// biome-ignore lint/suspicious/noExplicitAny: tests look at single members.
export function jsonOf(tree: string, path: string): any {
  return JSON.parse(textOf(tree, path));
}
