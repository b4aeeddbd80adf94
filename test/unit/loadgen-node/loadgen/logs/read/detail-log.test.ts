import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDetailLog } from '../../../../../../loadgen-node/loadgen/logs/read/detail-log.ts';
import { openRunFolder } from '../../../../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { readSummaryLog } from '../../../../../../loadgen-node/loadgen/logs/read/summary-log.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';
import {
  goldenFolders,
  goldenPath,
  readGoldenText,
} from '../../../../../scenes/simulated-run/golden.ts';
import { simulateRun } from '../../../../../scenes/simulated-run/simulated-run.ts';

it('reads what a run of 600 s wrote, seeds to the last digit', async () => {
  const folder = tempFolder();
  const outcome = await simulateRun({
    folder,
    flags: { scenario: 'Server', round: 'v4.1', targetQps: '20' },
  });
  expect(outcome.verdicts.loadgen.isValid).toBe(true);
  const run = openRunFolder(folder);
  const { records, errorCount, damageCount, beginsWithRecord } = await readDetailLog(run.detail);
  expect(records.get('effective_schedule_rng_seed')?.value).toBe(14962580496156340209n);
  expect(records.get('effective_min_duration_ms')?.value).toBe(600_000);
  expect(records.get('result_validity')?.value).toBe('VALID');
  expect({ errorCount, damageCount, beginsWithRecord }).toEqual({
    errorCount: 0,
    damageCount: 0,
    beginsWithRecord: true,
  });
  expect((await readSummaryLog(run.summary)).values.get('Result is')).toBe('VALID');
});

const record = (key: string, value: unknown = 1, isError = false): string =>
  `:::MLLOG ${JSON.stringify({ key, value, metadata: { is_error: isError } })}`;

function write(...parts: readonly (string | Buffer)[]): string {
  const path = join(tempFolder(), 'mlperf_log_detail.txt');
  writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
  return path;
}

// Goal: what stands in a log is read to the last digit, and nothing that is wrong with it passes in
// silence. Method: logs by hand, each with one fault.
describe('readDetailLog', () => {
  it('tells damaged and cut records with their lines', async () => {
    const lines = ['a foreign line', record('a'), ':::MLLOG {"key": 1', record('a', 1, true)];
    const log = await readDetailLog(write(lines.join('\n'), '\n', record('b').slice(0, -9)));
    expect(log.beginsWithRecord).toBe(false);
    expect(log.errors.map(({ key, line }) => [key, line])).toEqual([['a', 4]]);
    expect(log.damages).toEqual([
      { line: 3, text: 'what follows the mark is not JSON: "{\\"key\\": 1"' },
      { line: 5, text: 'the file ends inside a record' },
    ]);
  });

  it('takes Windows line ends and a last line without an end', async () => {
    const log = await readDetailLog(
      write([record('a'), 'foreign', record('b', 'x\r')].join('\r\n')),
    );
    expect([...log.records].map(([key, { value, line }]) => [key, value, line])).toEqual([
      ['a', 1, 1],
      ['b', 'x\r', 3],
    ]);
    expect(log).toMatchObject({ damageCount: 0, lineCount: 3, beginsWithRecord: true });
  });

  it.each([
    ['exact', '14962580496156340209', 14962580496156340209n],
    ['rounded to a double', '1.4962580496156341e19', Number(14962580496156340224n)],
    ['rounded and written out', '14962580496156340000', 14962580496156340000n],
    ['quoted', '"14962580496156340209"', '14962580496156340209'],
    ['negative', '-9223372036854775808', -9223372036854775808n],
    ['small', '42', 42],
  ])('tells a seed that is %s from others', async (_case, digits, value) => {
    const line = `:::MLLOG {"key": "seed", "value": ${digits}, "metadata": {"is_error": false}}\n`;
    expect((await readDetailLog(write(line))).records.get('seed')?.value).toBe(value);
  });

  it('keeps the types of values', async () => {
    const values = [true, 'true', null, 1.5, [1, 2], { a: 1 }];
    const log = await readDetailLog(
      write(values.map((value, i) => record(`k${i}`, value)).join('\n')),
    );
    expect(values.map((_, i) => log.records.get(`k${i}`)?.value)).toEqual(values);
  });

  const cases: [string, (string | Buffer)[], string][] = [
    [
      'a name with a quote, which LoadGen does not escape',
      [':::MLLOG {"key": "sut_name", "value": "a "b"", "metadata": {"is_error": false}}\n'],
      'the record "sut_name" is not JSON (LoadGen does not escape quotes and backslashes in names)',
    ],
    [
      'a byte order mark',
      ['\ufeff', record('a'), '\n'],
      'the log begins with a byte order mark: the official tools do not see its first record',
    ],
    [
      'a record that is no text',
      [':::MLLOG ', Buffer.from([0xff]), '\n'],
      'the record is not UTF-8: the official tools cannot read the log',
    ],
    [
      'a cut within a character',
      [':::MLLOG {"key": "', Buffer.from([0xe2, 0x82])],
      'the file ends inside a record',
    ],
    ['a cut within a foreign line', ['note', Buffer.from([0xe2])], 'the file ends inside a line'],
    ['a list', [':::MLLOG [1]\n'], 'the record has no key'],
    ['a number', [':::MLLOG 1\n'], 'what follows the mark is no record'],
    [
      'a record without metadata',
      [':::MLLOG {"key": "a", "value": 1}\n'],
      'the record has no metadata',
    ],
    [
      'a line of 40 MB',
      [`:::MLLOG {"key": "${'x'.repeat(4e7)}"}\n`],
      'the line is longer than 33554432 bytes',
    ],
  ];
  it.each(cases)('tells %s', async (_case, parts, text) => {
    const log = await readDetailLog(write(...parts, `${record('next', 2)}\n`));
    const isLast = text.startsWith('the file ends');
    if (!isLast) expect(log.records.get('next')?.value).toBe(2);
    expect(isLast ? (await readDetailLog(write(...parts))).damages : log.damages).toEqual([
      { line: 1, text },
    ]);
  });

  it('counts the damages of a binary file and keeps a few', async () => {
    const bytes = Buffer.from(Array.from({ length: 5e5 }, (_, i) => (i * 7919 + (i >> 8)) % 256));
    const log = await readDetailLog(write(bytes));
    expect(log.records.size).toBe(0);
    expect(log.damageCount).toBeGreaterThan(1000);
    expect(log.damages).toHaveLength(20);
  });

  it('keeps no more than 64 MiB of records, and says so', async () => {
    const long = 'x'.repeat(2 ** 24);
    const log = await readDetailLog(
      write(['a', 'b', 'c', 'd', 'e'].map((key) => record(key, long)).join('\n')),
    );
    expect(log.records.size).toBe(3);
    expect(log.damages[0]).toEqual({
      line: 4,
      text: 'more than 67108864 characters of different records',
    });
  });

  // The golden logs are kept without mark and metadata, and with long numbers as texts.
  it.each(goldenFolders('loadgen-v4.1/logs'))(
    'reads what the C++ LoadGen wrote: %s',
    async (name) => {
      const golden = `loadgen-v4.1/logs/${name}`;
      const lines = readGoldenText(`${golden}/mlperf_log_detail.jsonl`).trimEnd().split('\n');
      const metadata =
        '"metadata": {"is_error": false, "is_warning": false, "file": "x.cc", "line_no": 1}}';
      const text = lines.map((line) =>
        `:::MLLOG ${line.slice(0, -1)}, "time_ms": 0.1, ${metadata}\n`.replace(
          /"(\d{16,20})"/,
          '$1',
        ),
      );
      const detail = await readDetailLog(write(...text));
      expect(detail).toMatchObject({ damageCount: 0, beginsWithRecord: true });
      expect(typeof detail.records.get('effective_sample_index_rng_seed')?.value).toBe('bigint');
      const { values } = await readSummaryLog(goldenPath(`${golden}/mlperf_log_summary.txt`));
      expect(values.get('Result is')).toBe(detail.records.get('result_validity')?.value);
    },
  );
});

describe('readSummaryLog', () => {
  it('takes labels and values as the official tools do', async () => {
    const path = write(
      '====\r\nSUT name : a : b\r\nResult is : VALID\r\nResult is : INVALID\r\n',
      "Samples per second: 12.5\r\n12:30 o'clock\r\n: no label\r\nempty :\r\n",
    );
    expect([...(await readSummaryLog(path)).values]).toEqual([
      ['SUT name', 'a : b'],
      ['Result is', 'VALID'],
      ['Samples per second', '12.5'],
    ]);
  });

  it('is not held up by a line of blanks', async () => {
    const { values, lineCount } = await readSummaryLog(
      write(' '.repeat(2e6), '\nResult is : VALID\n'),
    );
    expect([values.get('Result is'), lineCount]).toEqual(['VALID', 2]);
  });
});
