import { type Dirent, lstatSync, readdirSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import {
  describeSystemError,
  MlperfError,
  withReason,
} from '../../../../shared/base/errors/mlperf-error.ts';
import { statIfThere } from '../../../../shared/base/files/read-file.ts';

/** Names of the entries of one folder, sorted. */
interface TreeFolder {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** An entry that is not a readable file or folder, and the reason. */
export interface TreeOddity {
  readonly file: string;
  readonly kind: 'symlink' | 'symlink-to-folder' | 'special' | 'unreadable';
  readonly text: string;
}

const NO_FOLDER: TreeFolder = { files: [], folders: [] };

/**
 * Names and sizes of everything in a tree; paths are relative to its root, with forward slashes;
 * the root is ''. Read once, so that every check sees the same tree. Links inside are not followed;
 * the root may be a link.
 * @throws MlperfError `ERR_CONFIG_FILE` if the root is not a readable folder.
 */
export function treeListing(root: string): TreeListing {
  const { sizes, folders, oddities } = readTree(root);
  const pathOf = (path: string) => join(root, path);
  const hasFolder = (path: string) => folders.has(path);
  const entries = (path: string) => folders.get(path) ?? NO_FOLDER;
  /** Oddities of these kinds, as findings. */
  const odd = (...kinds: TreeOddity['kind'][]) =>
    oddities.filter(({ kind }) => kinds.includes(kind));
  return {
    pathOf,
    hasFolder,
    entries,
    odd,
    folderPaths: () => folders.keys(),
    filePaths: () => sizes.keys(),
    hasFile: (path) => sizes.has(path),
    bytesOf: (path) => sizes.get(path),
    isEmpty: (path) => {
      const { files, folders: below } = entries(path);
      const hasOdd = oddities.some(({ file }) => file === path || posix.dirname(file) === path);
      return files.length + below.length === 0 && !hasOdd;
    },
    leadsToFolder: (path) => {
      const links = odd('symlink-to-folder');
      if (hasFolder(path) || links.some(({ file }) => file === path)) return true;
      return (
        links.some(({ file }) => path.startsWith(`${file}/`)) &&
        statIfThere(pathOf(path))?.isDirectory() === true
      );
    },
  };
}

/** Files, folders and oddities of a tree; paths are relative to its root. */
export interface TreeListing {
  /** Absolute path for file access. */
  readonly pathOf: (path: string) => string;
  readonly hasFolder: (path: string) => boolean;
  /** Entries of a folder; empty if it does not exist. */
  readonly entries: (path: string) => TreeFolder;
  readonly odd: (...kinds: TreeOddity['kind'][]) => TreeOddity[];
  /** Every folder including the root. */
  readonly folderPaths: () => Iterable<string>;
  /** Every file. */
  readonly filePaths: () => Iterable<string>;
  readonly hasFile: (path: string) => boolean;
  /** Size of a file in bytes; undefined if it does not exist. */
  readonly bytesOf: (path: string) => number | undefined;
  /** True for a folder without files, folders and links. */
  readonly isEmpty: (path: string) => boolean;
  /**
   * True for a folder, for a link to one, and for a folder below such a link, which is not listed.
   */
  readonly leadsToFolder: (path: string) => boolean;
}

function readTree(root: string) {
  const checkRoot = (): void => {
    if (!statSync(join(root, '.')).isDirectory()) {
      throw new MlperfError('ERR_CONFIG_FILE', `${root} is no folder: name the root of a tree`);
    }
    readdirSync(root);
  };
  withReason(`cannot read ${root}`, checkRoot, 'ERR_CONFIG_FILE');
  const sizes = new Map<string, number>();
  const folders = new Map<string, TreeFolder>();
  const oddities: TreeOddity[] = [];
  const addOdd = (path: string, kind: TreeOddity['kind'], text: string): void => {
    oddities.push({ file: path || '.', kind, text });
  };
  const readable = <T>(path: string, read: (path: string) => T): T | undefined => {
    try {
      return read(join(root, path));
    } catch (error) {
      addOdd(path, 'unreadable', `It cannot be read: ${describeSystemError(error)}.`);
      return undefined;
    }
  };
  const waiting = [''];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const found = { files: [] as string[], folders: [] as string[] };
    const read = (folder: string): Dirent[] => readdirSync(folder, { withFileTypes: true });
    for (const entry of readable(path, read) ?? []) {
      const at = posix.join(path, entry.name);
      const odd = oddityOf(entry, join(root, at));
      if (odd !== undefined) addOdd(at, ...odd);
      else if (entry.isDirectory()) found.folders.push(entry.name);
      else {
        found.files.push(entry.name);
        const stat = readable(at, (file) => lstatSync(file));
        if (stat !== undefined) sizes.set(at, stat.size);
      }
    }
    folders.set(path, { files: found.files.sort(), folders: found.folders.sort() });
    waiting.push(...found.folders.map((name) => posix.join(path, name)));
  }
  return { sizes, folders, oddities };
}

/** Kind of an entry that is neither a file nor a folder, and its text. */
function oddityOf(entry: Dirent, path: string): [TreeOddity['kind'], string] | undefined {
  if (entry.isDirectory() || entry.isFile()) return undefined;
  if (!entry.isSymbolicLink()) return ['special', 'It is neither a file nor a folder.'];
  const stat = statIfThere(path);
  if (stat?.isDirectory()) return ['symlink-to-folder', 'It is a symbolic link to a folder.'];
  return ['symlink', stat ? 'It is a symbolic link.' : 'It is a symbolic link that leads nowhere.'];
}
