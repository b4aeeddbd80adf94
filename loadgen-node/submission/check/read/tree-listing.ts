import { type Dirent, lstatSync, readdirSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import {
  describeSystemError,
  MlperfError,
  withReason,
} from '../../../../shared/base/errors/mlperf-error.ts';

/** Entries of one folder, by name. */
export interface TreeFolder {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** An entry that is neither a file nor a folder that can be read, and the reason. */
export interface TreeOddity {
  readonly file: string;
  readonly kind: 'symlink' | 'symlink-to-folder' | 'special' | 'unreadable';
  readonly text: string;
}

/**
 * Names and sizes of all that is in a tree, paths relative to its root, with forward slashes; the
 * root is ''. Taken once, so that every check sees the same tree. Links are not followed.
 */
export class TreeListing {
  readonly root: string;
  readonly #bytes = new Map<string, number>();
  readonly #folders = new Map<string, TreeFolder>();
  readonly #oddities: TreeOddity[] = [];

  /** @throws MlperfError `ERR_CONFIG_FILE` when the root is no folder that can be read. */
  constructor(root: string) {
    this.root = root;
    const checkRoot = (): void => {
      if (!lstatSync(join(root, '.')).isDirectory()) {
        throw new MlperfError('ERR_CONFIG_FILE', `${root} is no folder: name the root of a tree`);
      }
      readdirSync(root);
    };
    withReason(`cannot read ${root}`, checkRoot, 'ERR_CONFIG_FILE');
    const waiting = [''];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      waiting.push(...this.#take(path));
    }
  }

  /** @returns Paths of the folders in it. */
  #take(path: string): string[] {
    const files: string[] = [];
    const folders: string[] = [];
    const read = (): Dirent[] => readdirSync(this.pathOf(path), { withFileTypes: true });
    for (const entry of this.#readable(path, read) ?? []) {
      const at = posix.join(path, entry.name);
      if (entry.isDirectory()) folders.push(entry.name);
      else if (entry.isFile()) {
        files.push(entry.name);
        const stat = this.#readable(at, () => lstatSync(this.pathOf(at)));
        if (stat !== undefined) this.#bytes.set(at, stat.size);
      } else if (!entry.isSymbolicLink()) {
        this.#odd(at, 'special', 'It is neither a file nor a folder.');
      } else if (this.#isFolder(at)) {
        this.#odd(at, 'symlink-to-folder', 'It is a symbolic link to a folder.');
      } else this.#odd(at, 'symlink', 'It is a symbolic link.');
    }
    this.#folders.set(path, { files: files.sort(), folders: folders.sort() });
    return folders.map((name) => posix.join(path, name));
  }

  /** Links followed. */
  #isFolder(path: string): boolean {
    return statSync(this.pathOf(path), { throwIfNoEntry: false })?.isDirectory() === true;
  }

  #readable<T>(path: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.#odd(path, 'unreadable', `It cannot be read: ${describeSystemError(error)}.`);
      return undefined;
    }
  }

  #odd(path: string, kind: TreeOddity['kind'], text: string): void {
    this.#oddities.push({ file: path || '.', kind, text });
  }

  /** Oddities of these kinds, in the form of findings. */
  odd(...kinds: TreeOddity['kind'][]): TreeOddity[] {
    return this.#oddities.filter(({ kind }) => kinds.includes(kind));
  }

  /** Every folder below the root, and the root. */
  folderPaths(): IterableIterator<string> {
    return this.#folders.keys();
  }

  /** Every file. */
  filePaths(): IterableIterator<string> {
    return this.#bytes.keys();
  }

  /** Entries of a folder; none where there is no such folder. */
  entries(path: string): TreeFolder {
    return this.#folders.get(path) ?? { files: [], folders: [] };
  }

  hasFolder(path: string): boolean {
    return this.#folders.has(path);
  }

  /** True for a folder that has nothing in it, not even a link. */
  isEmpty(path: string): boolean {
    const { files, folders } = this.entries(path);
    const hasOdd = this.#oddities.some(({ file }) => file === path || posix.dirname(file) === path);
    return files.length + folders.length === 0 && !hasOdd;
  }

  /**
   * True for a folder, for a link to one, and for a folder behind such a link, which is not listed.
   */
  leadsToFolder(path: string): boolean {
    if (this.hasFolder(path)) return true;
    const links = this.odd('symlink-to-folder');
    if (links.some(({ file }) => file === path)) return true;
    const isBelow = links.some(({ file }) => path.startsWith(`${file}/`));
    return isBelow && this.#isFolder(path);
  }

  hasFile(path: string): boolean {
    return this.#bytes.has(path);
  }

  /** Size of a file in bytes; undefined where there is none. */
  bytesOf(path: string): number | undefined {
    return this.#bytes.get(path);
  }

  /** Path for the file system. */
  pathOf(path: string): string {
    return join(this.root, path);
  }
}
