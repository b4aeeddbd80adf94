import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tempFolder } from './temp-folder.ts';

/** The table of verbs of a planted project: two verbs, each with a module of its own. */
const VERB_TABLE = `
export const VERBS = {
  one: async () => (await import('./one.js')).one,
  'two-b': async () => (await import('./two.js')).twoB,
};`;

const PROJECT: Readonly<Record<string, string>> = {
  'dist/loadgen-node/main.js': "import './cli/verbs.js';",
  'dist/loadgen-node/index.js': '',
  'dist/loadgen-node/index.d.ts': '',
  'dist/loadgen-node/cli/verbs.js': VERB_TABLE,
  'dist/loadgen-node/cli/one.js': "import { z } from 'zod/v4';",
  'dist/loadgen-node/cli/two.js': '',
  'README.md': 'The project.',
  LICENSE: 'A licence.',
  'package.json': JSON.stringify({
    name: 'planted',
    version: '1.2.3',
    dependencies: { zod: '^4.0.0', '@x/y': '^1.0.0' },
    bin: { planted: 'dist/loadgen-node/main.js' },
  }),
  'package-lock.json': JSON.stringify({
    packages: {
      '': { dependencies: { zod: '^4.0.0', '@x/y': '^1.0.0' } },
      'node_modules/zod': { version: '4.6.7' },
      'node_modules/@x/y': { version: '1.0.1' },
      'node_modules/stray': { version: '9.0.0' },
    },
  }),
};

/**
 * A small compiled project in a folder of its own; call it inside a test.
 * @param files Text by path, in place of its own files or beside them.
 * @returns The folder.
 */
export function plantedProject(files: Readonly<Record<string, string>> = {}): string {
  return plantedFiles({ ...PROJECT, ...files });
}

/**
 * Files in a temporary folder that is no git repository; call it inside a test.
 * @param files Text by path.
 * @returns The folder.
 */
export function plantedFiles(files: Readonly<Record<string, string>>): string {
  const root = tempFolder();
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return root;
}
