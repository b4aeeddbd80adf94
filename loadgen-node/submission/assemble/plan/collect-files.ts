import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { TREE_FILE_BYTES_MAX } from '../../tree/tree-layout.ts';

/** Folders that hold what can be made again, and that no reviewer reads. */
const SKIPPED = new Set(['node_modules', '__pycache__']);

/** Files below some paths, and what is wrong with them. */
export interface CollectedFiles {
  /** Path in the tree, with forward slashes → file here; links are followed. */
  readonly files: ReadonlyMap<string, string>;
  /** Whole sentences. */
  readonly problems: readonly string[];
  readonly skippedCount: number;
}

/**
 * Finds the files of paths that go into a tree: a file under its name, a folder with all that is in it.
 * Names with a leading dot are left out, names with blanks refused, as the official checkers want it.
 */
export function collectFiles(paths: readonly string[]): CollectedFiles {
  const walk = new Walk();
  for (const path of paths) {
    if (!existsSync(path)) walk.problems.push(`${path} is not there`);
    else if (statSync(path).isDirectory()) walk.folder(path, basename(path), []);
    else walk.file(path, basename(path));
  }
  return walk;
}

class Walk implements CollectedFiles {
  readonly files = new Map<string, string>();
  readonly problems: string[] = [];
  skippedCount = 0;

  file(path: string, name: string): void {
    if (/\s/.test(name))
      this.problems.push(`${path} has a blank in its name: the checkers refuse it`);
    const { size } = statSync(path);
    if (size > TREE_FILE_BYTES_MAX) {
      this.problems.push(`${path} has ${size} bytes: the checkers refuse files above 50 MiB`);
    }
    if (this.files.has(name)) {
      this.problems.push(`${path} and ${this.files.get(name)} would both be ${name}`);
    }
    this.files.set(name, path);
  }

  /** @param parents Real paths of the folders above: a link to one of them would never end. */
  folder(path: string, name: string, parents: readonly string[]): void {
    const real = realpathSync(path);
    if (parents.includes(real)) {
      this.problems.push(`${path} is a link to a folder above it`);
      return;
    }
    for (const entry of readdirSync(path).sort()) {
      const inner = join(path, entry);
      if (entry.startsWith('.') || SKIPPED.has(entry)) this.skippedCount += 1;
      else if (!existsSync(inner)) this.problems.push(`${inner} is a link to nothing`);
      else if (statSync(inner).isDirectory()) {
        this.folder(inner, `${name}/${entry}`, [...parents, real]);
      } else this.file(inner, `${name}/${entry}`);
    }
  }
}
