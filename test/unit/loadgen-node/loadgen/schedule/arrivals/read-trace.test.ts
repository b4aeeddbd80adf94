import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTrace } from '../../../../../../loadgen-node/loadgen/schedule/arrivals/read-trace.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

function traceFile(text: string | Uint8Array): string {
  const path = join(tempFolder(), 'trace.txt');
  writeFileSync(path, text);
  return path;
}

function read(text: string, speed = 1): number[] {
  return [...readTrace(traceFile(text), { speed })];
}

// Goal: a trace is run as it was written, and a wrong line is named.
// Method: small files of every form.
describe('readTrace', () => {
  it.each([
    ['seconds, a line each', '0\n0.5\n0.5\n2e0\n', [0, 0.5e9, 0.5e9, 2e9]],
    ['comments, blank lines and no line break at the end', '# a\n\n 1.5 \r\n\n2', [0, 0.5e9]],
    ['times of day in Unix seconds', '1700000000.25\n1700000001\n', [0, 0.75e9]],
    ['a table with more columns', 'id,Timestamp,tokens\n1,3,"a,b"\n2,4.5,7\n', [0, 1.5e9]],
    ['a table behind quoted cells', 'name,timestamp_ms\n"x, ""y""",10\n"z",12.5\n', [0, 2.5e6]],
    ['a table in seconds', 'timestamp_s\n7\n8\n', [0, 1e9]],
    ['objects', '{"timestamp": 1, "n": 3}\n{"n": 4, "timestamp": 1.25}\n', [0, 0.25e9]],
    ['objects in ms', '{"timestamp_ms": 27482}\n{"timestamp_ms": 30535}\n', [0, 3053e6]],
    ['objects with texts', '{"timestamp": "1"}\n{"timestamp": "3"}\n', [0, 2e9]],
    [
      'dates, to 100 ns',
      'TIMESTAMP,n\n2023-11-16 23:59:59.9799600,1\n2023-11-17 00:00:00.0000000,2\n',
      [0, 20_040_000],
    ],
    [
      'the end of a day',
      '2024-02-29T23:59:59\n2024-02-29T24:00:00\n2024-03-01T00:00:01Z\n',
      [0, 1e9, 2e9],
    ],
    [
      'dates with a zone',
      '2024-02-29T23:30:00+01:00\n2024-02-29T22:30:01Z\n2024-02-29 20:30:02-0200\n',
      [0, 1e9, 2e9],
    ],
  ])('reads %s', (_case, text, expected) => {
    const due = read(text);
    expect(due).toHaveLength(expected.length);
    for (const [i, ns] of due.entries()) {
      // Unix times in seconds are exact to 0.3 µs, as doubles are.
      expect(Math.abs(ns - (expected[i] as number))).toBeLessThanOrEqual(300);
    }
  });

  it('runs a trace as many times as fast as it is told', () => {
    expect(read('5\n6\n9\n', 4)).toEqual([0, 0.25e9, 1e9]);
    expect(read('{"timestamp": 0}\n{"timestamp": 3000}\n', 1000)).toEqual([0, 3e9]);
  });

  it('reads lines that lie across the chunks of a large file', () => {
    const count = 200_000;
    const text = Array.from({ length: count }, (_, i) => `${i / 1000} `).join('\n');
    const due = read(text);
    expect(due).toHaveLength(count);
    expect(due.every((ns, i) => ns === i * 1e6)).toBe(true);
  });

  it.each([
    ['a line that is no number', '0\n1\nx y\n', ':3: "x y" is not a time: it must be a number'],
    ['a negative time', '0\n-1\n', ':2: "-1" is not a time: it must be a number of 0 or more'],
    ['NaN', '0\nNaN\n', ':2: "NaN" is not a time'],
    ['Infinity', '0\nInfinity\n', ':2: "Infinity" is not a time'],
    ['a number too large', '0\n1e308\n', ':2: "1e308" is too large for a time'],
    ['hexadecimal', '0\n0x10\n', ':2: "0x10" is not a time'],
    ['times out of order', '0\n# pause\n2\n1.5\n', ':4: is before line 3: the lines of a trace'],
    ['ms taken for seconds', '0\n1e7\n', ':2: is more than 104 days after the first line'],
    ['a header without the time', 'time,n\n', ':1: "time,n" is neither a time in seconds nor'],
    ['a row without the column', 'n,timestamp\n1\n', ':2: has no column 2'],
    ['a cell that is empty', 'timestamp,n\n,1\n', ':2: "" is not a time'],
    ['an object without the key', '{"time": 1}\n', ':1: the object has none of the keys timestamp'],
    ['an object with a list', '{"timestamp": [1]}\n', ':1: timestamp must be a number, not "[1]"'],
    [
      'an object that is cut',
      '{"timestamp": 1}\n{"timest',
      ':2: "{\\"timest" is not a JSON object',
    ],
    ['a list among objects', '{"timestamp": 1}\n[2]\n', ':2: the object has none of the keys'],
    ['null among objects', '{"timestamp": 1}\nnull\n', ':2: "null" is not a JSON object'],
    ['an hour that there is not', '2024-02-28T25:00:00\n', ':1: '],
    [
      'a day that there is not',
      '2024-02-29T00:00:00\n2024-02-31T00:00:00\n',
      ':2: "2024-02-31T00:00:00" is not a valid date',
    ],
    ['no lines', '', ' has no arrival: a trace has a line for each query'],
    ['comments alone', '# nothing\n', ' has no arrival'],
    ['a header alone', 'timestamp\n', ' has no arrival'],
    ['a line without an end', 'x'.repeat(3 << 20), ':1: the line is longer than 1048576'],
    ['binary data', '\u0000\u0001\u001b[2J\n', ':1: "\\u0000\\u0001\\u001b[2J" is neither'],
  ])('refuses %s, with file and line', (_case, text, problem) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringContaining(`trace.txt${problem}`),
      }),
    );
  });

  it('refuses more arrivals than a run plans', () => {
    const path = traceFile('1\n2\n3\n');
    expect(() => readTrace(path, { speed: 1, arrivalsMax: 2 })).toThrow(
      /trace\.txt:3: a run plans 2 queries at most/,
    );
  });

  it('says why a file cannot be read', () => {
    const folder = join(tempFolder(), 'folder');
    mkdirSync(folder);
    expect(() => readTrace(folder, { speed: 1 })).toThrow(
      /cannot read the trace .*: it is not a file/,
    );
    expect(() => readTrace(join(folder, 'nix'), { speed: 1 })).toThrow(
      expect.objectContaining({ code: 'ERR_CONFIG_FILE' }),
    );
  });

  it('gives any file a list of times that do not fall, or a clear error', () => {
    const line = fc.oneof(
      fc.double({ min: 0, max: 1e6, noNaN: true }).map(String),
      fc.constantFrom(
        'timestamp',
        '{"timestamp":1}',
        '',
        '#',
        '"',
        '1,2',
        '{',
        '2024-01-01T00:00:00',
      ),
      fc.string(),
    );
    const path = traceFile('');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        writeFileSync(path, lines.join('\n'));
        let due: Float64Array;
        try {
          due = readTrace(path, { speed: 1 });
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_CONFIG_INVALID' });
          return;
        }
        expect(due[0]).toBe(0);
        expect(due.every((ns, i) => i === 0 || ns >= (due[i - 1] ?? 0))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
