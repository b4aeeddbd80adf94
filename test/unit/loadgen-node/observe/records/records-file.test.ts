import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { RecordsReader } from '../../../../../loadgen-node/observe/records/records-reader.ts';
import {
  allocateRecords,
  joinRecords,
  RECORD_COLUMNS,
  type SampleRecords,
} from '../../../../../loadgen-node/observe/records/sample-records.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { queueRecords, writeRecords } from '../../../../scenes/simulated-run/records.ts';

/** Writes a file with these parts and gives its path. */
async function written(parts: readonly SampleRecords[]): Promise<string> {
  const path = join(tempFolder(), 'records.arrow');
  await writeRecords(path, parts);
  return path;
}

async function readBack(path: string, parts?: readonly number[]): Promise<SampleRecords> {
  const reader = await RecordsReader.open(path);
  try {
    return await reader.readAll(parts);
  } finally {
    await reader.close();
  }
}

function withPart(records: SampleRecords, part: number): SampleRecords {
  records.part.fill(part);
  return records;
}

/** An Arrow file is its stream between two marks; the one at the end is not needed here. */
function streamAfterMagic(stream: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('ARROW1\0\0'), stream]);
}

/** Byte by byte: a comparison value by value takes seconds. */
function expectSame(seen: SampleRecords, written: SampleRecords | undefined): void {
  const bytes = (records: SampleRecords | undefined) =>
    RECORD_COLUMNS.map(({ name, of }) => {
      const values = records === undefined ? null : of(records);
      if (values === null) return `${name}: none`;
      const view = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
      return `${name}: ${createHash('sha256').update(view).digest('hex')}`;
    });
  expect(bytes(seen)).toEqual(bytes(written));
}

// Goal: what is written is read back to the bit, and what was cut is read up to the cut, and said
// so. Method: seeded tables of more than one block, through a recorder into a file in a folder of
// the test.
/** A copy of the first rows. */
function firstRows(records: SampleRecords, rowCount: number): SampleRecords {
  const hasTokens = records.tokenCount !== null;
  const hasPrompts = records.promptTokens !== null;
  const first = allocateRecords(rowCount, { hasTokens, hasFirstTokens: hasTokens, hasPrompts });
  for (const { of } of RECORD_COLUMNS) {
    of(records)?.forEach((value, row) => {
      const column = of(first);
      if (column !== null && row < rowCount) column[row] = value;
    });
  }
  return first;
}

describe('the file of records', () => {
  it.each<[string, Parameters<typeof queueRecords>[0]]>([
    ['of two blocks, with lost samples', { rowCount: 65_600, nodes: 2, lostShare: 0.01 }],
    ['with tokens', { rowCount: 300, hasTokens: true, lostShare: 0.1 }],
    ['of a SUT that reports no times', { rowCount: 300, tellsTimes: false, nodes: 2 }],
    ['of a SUT without nodes', { rowCount: 300, nodes: 0 }],
  ])('%s is read back as it was written', async (_what, options) => {
    const records = queueRecords(options);
    expectSame(await readBack(await written([records])), records);
  });

  it('has parts, which are read together or alone', async () => {
    const parts = [
      queueRecords({ rowCount: 600, nodes: 2 }),
      withPart(queueRecords({ rowCount: 10, seed: 2 }), 1),
    ];
    const path = await written(parts);
    expectSame(await readBack(path), joinRecords(parts));
    expectSame(await readBack(path, [1]), parts[1]);
  });

  it('is a file that other readers of Arrow open, with names, types and nulls', async () => {
    const records = queueRecords({ rowCount: 100, nodes: 2, lostShare: 0.2 });
    const table = tableFromIPC(readFileSync(await written([records])));
    const lost = records.completedNs.findIndex(Number.isNaN);
    expect(table.numRows).toBe(100);
    expect(table.schema.metadata.get('longhaul.run_id')).toBe('run-of-the-test');
    expect(table.schema.fields.map((field) => `${field.name}: ${field.type}`)).toMatchSnapshot();
    expect(table.getChild('completed_ns')?.get(lost)).toBeNull();
    expect(table.getChild('node')?.get(lost)).toBeNull();
    const other = records.node.indexOf(1);
    expect(table.getChild('node')?.get(other)).toBe('süt-b');
    expect(table.getChild('completed_ns')?.get(other)).toBe(
      BigInt(records.completedNs[other] ?? 0),
    );
  });

  it('cut at any byte is read up to the last whole block, or refused with its path', async () => {
    const records = queueRecords({ rowCount: 65_540 });
    const path = await written([records]);
    const bytes = readFileSync(path);
    const seen = new Set<string>();
    const sizes = [bytes.length - 4000];
    for (let size = 0; size < bytes.length - 4000; size += size < 6000 ? 97 : 500_007)
      sizes.push(size);
    for (const size of sizes.sort((a, b) => a - b)) {
      writeFileSync(path, bytes.subarray(0, size));
      try {
        const reader = await RecordsReader.open(path);
        expect(reader.cut).not.toBeNull();
        const read = await reader.readAll();
        expect(read.rowCount).toBe(reader.rowCount);
        expectSame(read, firstRows(records, read.rowCount));
        seen.add(reader.cut ?? '');
        await reader.close();
      } catch (error) {
        expect(String(error)).toContain(path);
        seen.add('refused');
      }
    }
    expect([...seen]).toEqual([
      'refused',
      'cut before the first block of records',
      'cut after 0 of 65540 rows',
      'cut after 65536 of 65540 rows',
    ]);
  });

  it('cut in its index has all rows', async () => {
    const path = await written([queueRecords({ rowCount: 50 })]);
    writeFileSync(path, readFileSync(path).subarray(0, -3));
    const reader = await RecordsReader.open(path);
    expect(reader.cut).toBe('cut after all of its 50 rows, in the index that follows them');
    await reader.close();
  });

  it.each<[string, (bytes: Buffer) => Buffer | string, RegExp]>([
    ['is no Arrow file', () => 'query,latency\n', /not an Arrow file/],
    ['is empty', () => '', /it is empty/],
    [
      'is of another form',
      () => {
        const table = tableFromArrays({ part: new Uint16Array(1) });
        table.schema.metadata.set('longhaul.records', '2');
        return streamAfterMagic(tableToIPC(table, 'stream'));
      },
      /records of form 2; this longhaul reads form 1/,
    ],
    [
      'is an Arrow file of something else',
      () => streamAfterMagic(tableToIPC(tableFromArrays({ x: new Uint16Array(1) }), 'stream')),
      /is an Arrow file, but not of the records of a run/,
    ],
    [
      'has other columns',
      (bytes) =>
        Buffer.from(bytes.toString('latin1').replaceAll('issued_ns', 'issued_ms'), 'latin1'),
      /column issued_ms/,
    ],
    [
      'is damaged in the middle',
      (bytes) => Buffer.concat([bytes.subarray(0, 4000), Buffer.alloc(64), bytes.subarray(4064)]),
      /damaged|cannot read/,
    ],
  ])('that %s is refused with its path', async (_what, spoil, message) => {
    const path = await written([queueRecords({ rowCount: 50 })]);
    writeFileSync(path, spoil(readFileSync(path)));
    const read = readBack(path);
    await expect(read).rejects.toThrow(message);
    await expect(read).rejects.toThrow(path);
  });
});
