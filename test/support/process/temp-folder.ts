import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes an empty folder that is deleted when the running test ends. Call it inside a test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
