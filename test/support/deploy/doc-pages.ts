import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder } from '../../../shared/base/files/package-files.ts';

/** Root of the tree that the pages describe. */
export const DOC_ROOT: string = join(distFolder(), '..');

const FOLDERS = ['docs', 'deploy', 'proto', 'qdl', 'sut-node', 'loadgen-node'];

/** Every page of this tree, by its path from the root. */
export const PAGES: readonly string[] = [
  ...readdirSync(DOC_ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(DOC_ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(folder, file),
    ),
  ),
]
  .filter((file) => file.endsWith('.md'))
  .toSorted();

/** A page as it is. */
export const textOf = (page: string): string => readFileSync(join(DOC_ROOT, page), 'utf8');

/** A page without its blocks of code, in which a `#` begins a comment. */
export const proseOf = (page: string): string =>
  textOf(page).replace(/^ *(```+)[\s\S]*?^ *\1 *$/gm, '');
