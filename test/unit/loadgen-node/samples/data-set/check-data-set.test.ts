import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  checkDataSet,
  digestFiles,
} from '../../../../../loadgen-node/samples/data-set/check-data-set.ts';
import {
  digestOfList,
  formatChecksumList,
} from '../../../../../loadgen-node/samples/data-set/checksum-list.ts';
import type { DataSet } from '../../../../../loadgen-node/samples/data-set/data-set.ts';
import { writeFolderManifest } from '../../../../../shared/base/cache/manifest.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: a data set that changed is never run, and every file that differs is named.
const NAMES = ['a.JPEG', 'b.JPEG', 'c.JPEG', 'val_map.txt'];
const quiet = (): void => {};

function setOf(folder: string, more: Partial<DataSet> = {}): DataSet {
  const unused = (): never => {
    throw new Error('not asked for');
  };
  const base = { name: 'tiny', totalSampleCount: 3, folder, files: NAMES };
  return { ...base, readPayload: unused, scoreAccuracy: unused, ...more };
}

function writeFiles(): string {
  const folder = tempFolder();
  for (const name of NAMES) writeFileSync(join(folder, name), name);
  return folder;
}

async function listed(folder: string): Promise<string> {
  const checksums = await digestFiles(folder, NAMES, quiet);
  writeFileSync(join(folder, 'SHA256SUMS'), formatChecksumList(checksums));
  return digestOfList(checksums);
}

describe('checkDataSet', () => {
  it('compares with SHA256SUMS in the folder', async () => {
    const folder = writeFiles();
    const digest = await listed(folder);
    expect(await checkDataSet(setOf(folder), undefined, quiet)).toEqual({
      ...{ name: 'tiny', folder, sampleCount: 3, fileCount: 4 },
      ...{ digest, list: 'SHA256SUMS' },
    });
  });

  it('names every file that is missing, changed or not in the list', async () => {
    const folder = writeFiles();
    await listed(folder);
    rmSync(join(folder, 'a.JPEG'));
    writeFileSync(join(folder, 'b.JPEG'), 'other');
    writeFileSync(join(folder, 'd.JPEG'), 'new');
    const dataSet = setOf(folder, { files: [...NAMES.slice(1), 'd.JPEG'] });
    await expect(checkDataSet(dataSet, undefined, quiet)).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message:
        `${folder} is not as SHA256SUMS has it: 1 missing (a.JPEG); ` +
        '1 changed (b.JPEG); 1 not in the list (d.JPEG)',
    });
  });

  it('names some of many differences, and how many more there are', async () => {
    const folder = writeFiles();
    await listed(folder);
    const files = Array.from({ length: 25 }, (_, i) => `new${i}`);
    await expect(checkDataSet(setOf(folder, { files }), undefined, quiet)).rejects.toThrow(
      /25 not in the list \(new0, .*new19 and 5 more\)$/,
    );
  });

  it('digests a set without a list, so that two runs can be compared', async () => {
    const folder = writeFiles();
    const before = await checkDataSet(setOf(folder), undefined, quiet);
    expect(before).toMatchObject({ list: undefined, digest: expect.stringMatching(/^\w{64}$/) });
    writeFileSync(join(folder, 'b.JPEG'), 'other');
    const after = await checkDataSet(setOf(folder), undefined, quiet);
    expect(after.digest).not.toBe(before.digest);
  });

  it('takes the list that was requested, and says when it is not there', async () => {
    const folder = writeFiles();
    await expect(checkDataSet(setOf(folder), '/nowhere/list', quiet)).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: 'list of checksums /nowhere/list: there is no such file or folder',
    });
  });

  it('compares with the manifest of what longhaul made, once', async () => {
    const folder = writeFiles();
    await writeFolderManifest(folder, 'tiny', '{}');
    const made = await checkDataSet(setOf(folder), undefined, quiet);
    expect(made.list).toBe('manifest.json');
    writeFileSync(join(folder, 'b.JPEG'), 'other');
    await expect(checkDataSet(setOf(folder), undefined, quiet)).rejects.toThrow('1 changed');
    // Opening it has compared every file a moment ago.
    const opened = setOf(folder, { isManifestChecked: true });
    expect((await checkDataSet(opened, undefined, quiet)).digest).toBe(made.digest);
  });

  it('has nothing to compare where samples are generated', async () => {
    const dataSet = setOf('', { files: [] });
    expect(await checkDataSet(dataSet, undefined, quiet)).toMatchObject({
      fileCount: 0,
      digest: '',
    });
    await expect(checkDataSet(dataSet, 'list', quiet)).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
    });
  });
});
