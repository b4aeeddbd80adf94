import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RecordsKeeper } from '../../../../../loadgen-node/observe/records/records-keeper.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import {
  ABOUT_RECORDS,
  queueRecords,
  recordedSet,
} from '../../../../scenes/simulated-run/records.ts';

/** A device of Linux on which every write finds the disk full. */
const FULL_DISK = '/dev/full';
const about = () => ABOUT_RECORDS;

// Goal: records survive the end of their sets; a disk that fails costs the file and nothing else.
// Method: sets made of seeded tables; files in a folder of the test.
describe('RecordsKeeper', () => {
  it('gives the records of the wanted parts back, from the file', async () => {
    const path = join(tempFolder(), 'records.arrow');
    const parts = [queueRecords({ rowCount: 40 }), queueRecords({ rowCount: 30, seed: 2 })];
    parts[1]?.part.fill(1);
    const keeper = await RecordsKeeper.open(path, about);
    for (const part of parts) await keeper.keep(recordedSet(part));
    const { records, rowsInFile } = await keeper.end([1]);
    expect(keeper.problem).toBeNull();
    expect(rowsInFile).toBe(70);
    expect(records).toEqual(parts[1]);
  });

  it('keeps them in memory where no file is wanted', async () => {
    const part = queueRecords({ rowCount: 40 });
    const keeper = await RecordsKeeper.open(null, about);
    await keeper.keep(recordedSet(part));
    expect(await keeper.end([0])).toEqual({ records: part, rowsInFile: null });
  });

  it('leaves no file of a run in which no set came under the clock', async () => {
    const path = join(tempFolder(), 'records.arrow');
    const keeper = await RecordsKeeper.open(path, about);
    expect(await keeper.end([])).toEqual({ records: null, rowsInFile: null });
    expect(existsSync(path)).toBe(false);
  });

  it.skipIf(!existsSync(FULL_DISK))(
    'gives a full disk its space back and has the records all the same',
    async () => {
      const path = join(tempFolder(), 'records.arrow');
      symlinkSync(FULL_DISK, path);
      const part = queueRecords({ rowCount: 40 });
      const keeper = await RecordsKeeper.open(path, about);
      await keeper.keep(recordedSet(part));
      expect(await keeper.end([0])).toEqual({ records: part, rowsInFile: null });
      expect(keeper.problem).toMatchObject({
        code: 'ERR_OUTPUT',
        message: `cannot write the records ${path}: the disk is full`,
      });
      expect(existsSync(path)).toBe(false);
    },
  );

  it('refuses a place that cannot be written before anything is measured', async () => {
    const path = join(tempFolder(), 'records.arrow');
    mkdirSync(path);
    await expect(RecordsKeeper.open(path, about)).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: `cannot write the records ${path}: it is a folder`,
    });
  });
});
