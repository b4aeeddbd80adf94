import { posix } from 'node:path';
import { SUBMISSION_DIVISIONS } from '../rules/submission-rounds.ts';
import { DRY_RUN_FILE, TREE_FILE_BYTES_MAX } from '../tree/tree-layout.ts';
import type { TreeListing } from './read/tree-listing.ts';
import type { Findings } from './rules/findings.ts';

/** Folders that the official tools pass over in the root. */
const PASSED_OVER: readonly string[] = ['.git', '.github', 'assets'];

/** What a shell reads as something else than a name. */
const SHELL_CHARACTERS = /[;&|<>()$`"'\\*?[\]{}!#~\n\r\t]/;

/** Names, sizes and kinds of all files and folders, whatever they hold. */
export function checkFiles(listing: TreeListing, findings: Findings): void {
  checkRoot(listing, findings);
  for (const { path, kind, text } of listing.oddities) {
    const isLink = kind === 'symlink' || kind === 'symlink-to-folder';
    findings.add(isLink ? kind : 'no-plain-file', path || '.', text);
  }
  for (const path of listing.folderPaths()) {
    if (isOfDivision(path)) checkFolder(path, listing, findings);
  }
  for (const path of listing.filePaths()) {
    if (isOfDivision(path)) checkName(path, findings);
    const bytes = listing.bytesOf(path) ?? 0;
    if (bytes > TREE_FILE_BYTES_MAX) {
      findings.add(
        'file-too-large',
        path,
        `It has ${bytes} bytes; ${TREE_FILE_BYTES_MAX} are allowed.`,
      );
    }
  }
}

function checkFolder(path: string, listing: TreeListing, findings: Findings): void {
  checkName(path, findings);
  const { files, folders } = listing.entries(path);
  if (files.length + folders.length === 0 && !hasOddEntry(listing, path)) {
    findings.add('empty-folder', path, 'The folder is empty.');
  }
  if (posix.basename(path) === '__pycache__') {
    findings.add('python-cache', path, 'It is a cache of Python.');
  }
}

function checkRoot(listing: TreeListing, findings: Findings): void {
  const { files, folders } = listing.entries('');
  for (const name of files) {
    if (name === DRY_RUN_FILE) {
      findings.add(
        'dry-run-lengths',
        name,
        `${name} says that the runs are shorter than official.`,
      );
    }
    if (/\.(md|pdf)$/.test(name)) continue;
    findings.add('root-file', name, `${name} lies in the root.`);
  }
  for (const name of folders) {
    const isKnown =
      PASSED_OVER.includes(name) || (SUBMISSION_DIVISIONS as readonly string[]).includes(name);
    if (!isKnown) findings.add('root-folder', name, `"${name}" is no division.`);
  }
  for (const division of SUBMISSION_DIVISIONS) {
    for (const name of listing.entries(division).files) {
      findings.add('division-file', posix.join(division, name), `It lies in ${division}/ itself.`);
    }
  }
}

/** The official tools look at names below the divisions only. */
function isOfDivision(path: string): boolean {
  const top = path.split('/')[0] ?? '';
  return top !== path && (SUBMISSION_DIVISIONS as readonly string[]).includes(top);
}

function checkName(path: string, findings: Findings): void {
  const name = posix.basename(path);
  if (name.includes(' ')) findings.add('name-with-space', path, `"${name}" has a space.`);
  if (name.startsWith('.')) findings.add('name-with-dot', path, `"${name}" begins with a dot.`);
  const odd = SHELL_CHARACTERS.exec(name)?.[0];
  if (odd !== undefined && !isOfSources(path)) {
    findings.add('name-not-plain', path, `The name has ${JSON.stringify(odd)}.`);
  }
}

/** No script is called with the paths of sources. */
function isOfSources(path: string): boolean {
  return ['code', 'src'].includes(path.split('/')[2] ?? '');
}

function hasOddEntry(listing: TreeListing, folder: string): boolean {
  return listing.oddities.some(({ path }) => path === folder || posix.dirname(path) === folder);
}
