import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];

// Registered where a test file imports this module.
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Makes an empty folder that is deleted after the last test of the file. */
export function suiteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-test-'));
  made.push(folder);
  return folder;
}
