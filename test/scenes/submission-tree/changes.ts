import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { writeTree } from '../host/folders.ts';

/** A change of a tree. Paths are relative to the tree's root. */
export interface Change {
  /** File or folder that is new, different or gone. */
  readonly path: string;
  /** The change in a few words, behind the path. */
  readonly what: string;
  /** Path that a move leaves. */
  readonly from?: string;
  readonly make: (root: string) => void;
}

/** Makes the folders of the path as well. */
export const write = (path: string, content: string | Uint8Array = 'text'): Change => ({
  path,
  what: 'written',
  make: (root) => writeTree({ [path]: content }, root),
});

/** The change throws when the text stays as it is: such a fault would not be planted. */
export const rewrite = (
  path: string,
  change: (text: string) => string | Uint8Array,
  what = 'changed',
): Change => ({
  path,
  what,
  make: (root) => {
    const file = join(root, path);
    const before = readFileSync(file, 'utf8');
    const after = change(before);
    if (after === before) throw new Error(`nothing changed in ${path}`);
    writeFileSync(file, after);
  },
});

export const replace = (path: string, from: string | RegExp, to: string): Change =>
  rewrite(path, (text) => text.replace(from, to), `has ${to} for ${from}`);

export const append = (path: string, text: string): Change =>
  rewrite(path, (before) => before + text, `ends in ${text}`);

export const prepend = (path: string, text: string): Change =>
  rewrite(path, (after) => text + after, `begins with ${text}`);

/** Sets the value of a record of a detail log, given as JSON text; null takes the record out. */
export const record = (path: string, key: string, json: string | null): Change => {
  const line = new RegExp(`^(:::MLLOG \\{"key": "${key}", "value": ).*?(, "time_ms".*)\n`, 'm');
  const to = json === null ? '' : `$1${json}$2\n`;
  return rewrite(path, (text) => text.replace(line, to), `has ${key} = ${json}`);
};

/**
 * Changes the object of a JSON file: by a function, or by values, of which undefined takes a key
 * out.
 */
export const json = (
  path: string,
  change: Readonly<Record<string, unknown>> | ((value: Record<string, unknown>) => void),
): Change =>
  rewrite(
    path,
    (text) => {
      const value = JSON.parse(text) as Record<string, unknown>;
      if (typeof change === 'function') change(value);
      else Object.assign(value, change);
      return JSON.stringify(value);
    },
    JSON.stringify(change),
  );

/** Makes a file longer without writing what is in it. */
export const lengthen = (path: string, bytes: number): Change => ({
  path,
  what: `has ${bytes} bytes`,
  make: (root) => truncateSync(join(root, path), bytes),
});

export const remove = (path: string): Change => ({
  path,
  what: 'removed',
  make: (root) => rmSync(join(root, path), { recursive: true }),
});

export const move = (from: string, path: string): Change => ({
  path,
  from,
  what: `moved from ${from}`,
  make: (root) => renameSync(join(root, from), join(root, path)),
});

export const copy = (from: string, path: string): Change => ({
  path,
  what: `copied from ${from}`,
  make: (root) => cpSync(join(root, from), join(root, path), { recursive: true }),
});

export const folder = (path: string): Change => ({
  path,
  what: 'is an empty folder',
  make: (root) => mkdirSync(join(root, path)),
});

export const link = (path: string, target: string): Change => ({
  path,
  what: `links to ${target}`,
  make: (root) => symlinkSync(target, join(root, path)),
});

/** Takes changes back, by a copy of the tree from before them. */
export function takeBack(changes: readonly Change[], root: string, before: string): void {
  for (const { path, from } of changes) {
    for (const changed of [path, ...(from === undefined ? [] : [from])]) {
      // Folders that were made on the way go with the file.
      let top = changed;
      while (!existsSync(join(before, dirname(top)))) top = dirname(top);
      rmSync(join(root, top), { recursive: true, force: true });
      const source = join(before, top);
      if (existsSync(source)) cpSync(source, join(root, top), { recursive: true });
    }
  }
}
