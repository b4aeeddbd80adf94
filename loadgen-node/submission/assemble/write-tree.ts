import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { MARK_FILE, MARK_LINE } from '../tree/tree-layout.ts';
import type { PlannedFiles } from './planned-files.ts';

/**
 * Refuses a path that has something which longhaul did not build.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function checkTreeTarget(tree: string, mayReplace: boolean): void {
  if (!existsSync(tree)) return;
  const mark = join(tree, MARK_FILE);
  const isOurs = existsSync(mark) && readFileSync(mark, 'utf8').startsWith(MARK_LINE);
  if (!isOurs) {
    throw new MlperfError(
      'ERR_OUTPUT',
      `${tree} is there, and is no tree that longhaul built: name another folder, or remove it`,
    );
  }
  if (mayReplace) return;
  throw new MlperfError('ERR_OUTPUT', `${tree} is there: --force replaces it`);
}

/**
 * Writes a tree beside its place and moves it there at the end, so that nobody ever sees half of one.
 * @param finish Adds to the tree before it is moved; is given the folder in which it lies until then.
 * @throws MlperfError `ERR_OUTPUT`
 */
export async function writeTree(
  tree: string,
  files: PlannedFiles,
  finish: (folder: string) => Promise<void>,
): Promise<void> {
  const target = resolve(tree);
  const made = join(dirname(target), `${basename(target)}.building-${process.pid}`);
  try {
    mkdirSync(made, { recursive: true });
    const folders = new Set<string>();
    for (const [path, content] of files.entries) {
      const file = join(made, path);
      const folder = dirname(file);
      if (!folders.has(folder)) mkdirSync(folder, { recursive: true });
      folders.add(folder);
      if ('text' in content)
        writeFileSync(file, content.text, { mode: content.isScript === true ? 0o755 : 0o644 });
      else copyFileSync(content.copyOf, file);
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
