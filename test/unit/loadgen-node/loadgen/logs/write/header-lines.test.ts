import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkSelf, writeManifest } from '../../../../../../loadgen-node/run/judge/self-check.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';
import { readDetailLog, simulatedTest } from '../../../../../support/runs/simulated-test.ts';

async function linesOf(folder: string): Promise<Record<string, unknown>> {
  const { logFiles } = await simulatedTest({ minDurationMs: 0 }).run({
    selfCheck: checkSelf(folder),
  });
  const lines = readDetailLog(logFiles.detail).filter(({ key }) =>
    key.startsWith('longhaul_files'),
  );
  return Object.fromEntries(lines.map(({ key, value }) => [key, value]));
}

// Goal: a log tells which program made it. Method: a test under simulated time, a small dist folder.
describe('the head of the detail log', () => {
  it('names the hash of the program and that it is as it was built', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'main.js'), 'one');
    const { hash } = writeManifest(folder);
    expect(await linesOf(folder)).toEqual({
      longhaul_files_sha256: hash,
      longhaul_files_state: 'unmodified',
    });
  });

  it('names the files that differ', async () => {
    const folder = tempFolder();
    writeManifest(folder);
    writeFileSync(join(folder, 'main.js'), 'one');
    expect(await linesOf(folder)).toMatchObject({
      longhaul_files_state: 'modified',
      longhaul_files_differing: 'main.js',
    });
  });
});
