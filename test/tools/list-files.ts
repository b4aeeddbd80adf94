import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders that a walk leaves out; git ignores them. */
const LEFT_OUT = new Set(['node_modules', 'dist', '.git']);

/**
 * Files of the project, sorted, as paths below the root with `/`.
 * @param which `tracked`: those that git tracks; `all`: new ones that git does not ignore too.
 *   Where there is no git repository both walk the tree.
 */
export function listFiles(root: string, which: 'tracked' | 'all'): string[] {
  const options = which === 'all' ? ['--others', '--exclude-standard'] : [];
  return (gitFiles(root, options) ?? walk(root, ''))
    .filter((path) => lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile())
    .sort();
}

/** @returns undefined where git does not run or knows no repository. */
function gitFiles(root: string, options: readonly string[]): string[] | undefined {
  try {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', ...options], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 26,
    });
    return [...new Set(listed.split('\0').filter((path) => path !== ''))];
  } catch {
    return undefined;
  }
}

function walk(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return LEFT_OUT.has(entry.name) ? [] : walk(root, path);
  });
}
