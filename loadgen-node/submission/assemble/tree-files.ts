import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, posix, resolve } from 'node:path';
import {
  configInvalid,
  MlperfError,
  outputError,
} from '../../../shared/base/errors/mlperf-error.ts';
import { jsonText } from '../../../shared/base/text.ts';
import { MARK_FILE, MARK_LINE } from '../tree/tree-layout.ts';

/** Content of a file in the tree: a text, or a source file to copy. */
type FileContent = { readonly text: string; readonly mode: number } | { readonly copyOf: string };

/**
 * Files of a tree before it is written, by path with forward slashes. Writing begins when all files
 * are known, so that no incomplete tree is left. Adding throws MlperfError `ERR_CONFIG_INVALID` if
 * the path is taken, or the name not allowed.
 */
export function treeFiles(): TreeFiles {
  const files = new Map<string, FileContent>();
  const add = (path: string, content: FileContent): void => {
    const before = files.get(path);
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(content)) {
      throw configInvalid(
        `two files would be ${path} in the tree: rename the one that the configuration names`,
      );
    }
    if (path.split('/').some((part) => part.startsWith('.') || /\s/.test(part))) {
      throw configInvalid(
        `${path} would be in the tree: official checkers refuse blanks and leading dots in names`,
      );
    }
    files.set(path, content);
  };
  const text = (path: string, content: string) => add(path, { text: content, mode: 0o644 });
  const copy = (path: string, copyOf: string) => add(path, { copyOf });
  return {
    text,
    copy,
    entries: () => [...files].sort(([a], [b]) => (a < b ? -1 : 1)),
    script: (path, content) => add(path, { text: content, mode: 0o755 }),
    json: (path, value) => text(path, `${jsonText(value, 2)}\n`),
    copyAll: (folder, own): void => {
      for (const [name, file] of own) copy(posix.join(folder, name), file);
    },
  };
}

/** Files of a tree before it is written. */
export interface TreeFiles {
  readonly text: (path: string, content: string) => void;
  readonly copy: (path: string, copyOf: string) => void;
  /** All files, sorted by path. */
  readonly entries: () => [string, FileContent][];
  /** Adds an executable text. */
  readonly script: (path: string, content: string) => void;
  /** Adds a value as JSON. */
  readonly json: (path: string, value: unknown) => void;
  /** Copies many files into a folder. @param own Path below the folder, and source file. */
  readonly copyAll: (folder: string, own: ReadonlyMap<string, string>) => void;
}

/**
 * Refuses a target path with content that longhaul did not build.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function checkTreeTarget(tree: string, mayReplace: boolean): void {
  if (!existsSync(tree)) return;
  const mark = join(tree, MARK_FILE);
  const isOurs = existsSync(mark) && readFileSync(mark, 'utf8').startsWith(MARK_LINE);
  if (!isOurs) {
    throw new MlperfError(
      'ERR_OUTPUT',
      `${tree} already exists and is not a tree that longhaul built: name another folder, or remove it`,
    );
  }
  if (mayReplace) return;
  throw new MlperfError('ERR_OUTPUT', `${tree} already exists: --force replaces it`);
}

/**
 * Writes a tree beside its final place, and moves it there at the end, so that an incomplete tree
 * is never visible.
 * @param finish Completes the tree before it is moved; receives its temporary folder.
 * @throws MlperfError `ERR_OUTPUT`
 */
export async function writeTree(
  tree: string,
  files: TreeFiles,
  finish: (folder: string) => Promise<void>,
): Promise<void> {
  const target = resolve(tree);
  const made = join(dirname(target), `${basename(target)}.building-${process.pid}`);
  try {
    mkdirSync(made, { recursive: true });
    for (const [path, content] of files.entries()) {
      const file = join(made, path);
      mkdirSync(dirname(file), { recursive: true });
      if ('copyOf' in content) copyFileSync(content.copyOf, file);
      else writeFileSync(file, content.text, { mode: content.mode });
    }
    await finish(made);
    replace(target, made);
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    throw outputError(`cannot write ${tree}`, error);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function replace(target: string, made: string): void {
  if (!existsSync(target)) {
    renameSync(made, target);
    return;
  }
  const old = `${target}.old-${process.pid}`;
  renameSync(target, old);
  renameSync(made, target);
  rmSync(old, { recursive: true, force: true });
}
