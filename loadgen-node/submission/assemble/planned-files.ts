import { posix } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';

/** What a file of the tree holds: a text, or the bytes of another file. */
export type FileContent =
  | { readonly text: string; readonly isScript?: boolean }
  | { readonly copyOf: string };

/**
 * Files of a tree that is not written yet, by path with forward slashes. Nothing is written before all of
 * it is known, so that no half tree is ever left behind.
 */
export class PlannedFiles {
  readonly #files = new Map<string, FileContent>();

  /** Files, sorted by path. */
  get entries(): readonly (readonly [string, FileContent])[] {
    return [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  text(path: string, text: string): void {
    this.#add(path, { text });
  }

  /** A text that is executable. */
  script(path: string, text: string): void {
    this.#add(path, { text, isScript: true });
  }

  /** A value as JSON. */
  json(path: string, value: unknown): void {
    this.text(path, `${JSON.stringify(value, null, 2)}\n`);
  }

  copy(path: string, copyOf: string): void {
    this.#add(path, { copyOf });
  }

  /** Copies many files into a folder. @param files Path below the folder → file. */
  copyAll(folder: string, files: ReadonlyMap<string, string>): void {
    for (const [name, file] of files) this.copy(posix.join(folder, name), file);
  }

  /** @throws MlperfError `ERR_CONFIG_INVALID` when another file has the path already, or the name is not allowed. */
  #add(path: string, content: FileContent): void {
    const before = this.#files.get(path);
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(content)) {
      throw new MlperfError(
        'ERR_CONFIG_INVALID',
        `two files would be ${path} in the tree: rename the one that the configuration names`,
      );
    }
    if (path.split('/').some((part) => part.startsWith('.') || /\s/.test(part))) {
      throw new MlperfError(
        'ERR_CONFIG_INVALID',
        `${path} would be in the tree: official checkers refuse blanks and leading dots in names`,
      );
    }
    this.#files.set(path, content);
  }
}
