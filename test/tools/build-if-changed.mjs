// Builds where a source is newer than the last build, so that `npm start` behind `npm ci` begins at
// once.

import { execSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['loadgen-node', 'proto', 'qdl', 'shared', 'sut-node'];
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json'];

const builtAtMs = statSync('dist/manifest.json', { throwIfNoEntry: false })?.mtimeMs ?? 0;
// Folders as well: theirs is the time of the last file that was added or taken away.
const paths = SOURCES.flatMap((folder) => [
  folder,
  ...readdirSync(folder, { recursive: true }).map((name) => join(folder, name)),
]);
const isChanged = [...FILES, ...paths].some((path) => statSync(path).mtimeMs > builtAtMs);
if (isChanged) execSync('npm run build', { stdio: 'inherit' });
