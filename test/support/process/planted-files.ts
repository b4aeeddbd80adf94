import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tempFolder } from './temp-folder.ts';

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
