import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkSelf, writeManifest } from '../../../../../loadgen-node/run/judge/self-check.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

/** A small dist folder with a manifest. */
function builtFolder(): string {
  const folder = tempFolder();
  for (const name of ['shared', 'test']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'main.js'), 'one');
  writeFileSync(join(folder, 'shared', 'clock.js'), 'two');
  writeFileSync(join(folder, 'shared', 'v4.1.conf'), 'data that is read');
  writeFileSync(join(folder, 'shared', 'clock.d.ts'), 'types are not run');
  writeFileSync(join(folder, 'test', 'bench.js'), 'is not shipped');
  writeManifest(folder);
  return folder;
}

// Goal: a program that was changed after its build says so. Method: a small dist folder, changed.
describe('checkSelf', () => {
  it('finds nothing in files as they were built, and lists only what is shipped and run', () => {
    const found = checkSelf(builtFolder());
    expect(found).toMatchObject({ state: 'unmodified', differingFiles: [] });
    expect(Object.keys(found.files)).toEqual(['main.js', 'shared/clock.js', 'shared/v4.1.conf']);
    expect(found.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ['changed', (folder: string) => writeFileSync(join(folder, 'main.js'), 'other'), 'main.js'],
    [
      'data and changed',
      (folder: string) => writeFileSync(join(folder, 'shared', 'v4.1.conf'), 'other'),
      'shared/v4.1.conf',
    ],
    ['missing', (folder: string) => rmSync(join(folder, 'main.js')), 'main.js'],
    ['added', (folder: string) => writeFileSync(join(folder, 'more.js'), ''), 'more.js'],
  ])('names a file that is %s', (_case, change, path) => {
    const folder = builtFolder();
    const before = checkSelf(folder).hash;
    change(folder);
    const found = checkSelf(folder);
    expect(found).toMatchObject({ state: 'modified', differingFiles: [path] });
    expect(found.hash).not.toBe(before);
  });

  it('says nothing when the manifest is missing', () => {
    const folder = builtFolder();
    rmSync(join(folder, 'manifest.json'));
    expect(checkSelf(folder)).toMatchObject({ state: 'no-manifest', differingFiles: [] });
  });

  it('calls every file different when the manifest is damaged', () => {
    const folder = builtFolder();
    writeFileSync(join(folder, 'manifest.json'), '{"version": 1');
    const { state, differingFiles, files } = checkSelf(folder);
    expect({ state, differingFiles }).toEqual({
      state: 'modified',
      differingFiles: Object.keys(files),
    });
  });
});
