import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  makeAggregationTrace,
  readAggregationTrace,
} from '../../../../../../loadgen-node/samples/benchmarks/dlrm-v2/aggregation-trace.ts';

// Goal: samples are cut as the reference cuts them, to the last byte of its trace, and a wrong
// trace is refused with its line. Method: the SHA-256 of the reference's whole trace; files with
// one wrong line.

const GOLDEN = new URL('../../../../../golden/benchmarks/dlrm-v2/', import.meta.url);
const official = JSON.parse(readFileSync(new URL('official-trace.json', GOLDEN), 'utf8'));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trace-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** In the reference's form. */
const textOf = (trace: Uint32Array): string =>
  [...trace.subarray(1)]
    .map((end, i) => `${trace[i]}, ${end}, ${end - (trace[i] as number)}\n`)
    .join('');

describe('makeAggregationTrace', () => {
  it('makes the trace of the reference', () => {
    const trace = makeAggregationTrace(official.rows);
    expect(trace).toHaveLength(official.samples + 1);
    expect([...trace.slice(-2)]).toEqual(official.last_boundaries);
    const text = textOf(trace);
    expect(text.split('\n').slice(0, 5)).toEqual(official.first_lines);
    expect(text).toHaveLength(official.trace_file_bytes);
    expect(createHash('sha256').update(text).digest('hex')).toBe(official.trace_file_sha256);
  });

  it('ends where rows or samples end', () => {
    expect([...makeAggregationTrace(250)]).toEqual([0, 200, 250]);
    expect([...makeAggregationTrace(official.rows, 5)]).toEqual([0, 200, 400, 600, 800, 1300]);
    expect([...makeAggregationTrace(800, 5)]).toEqual([0, 200, 400, 600, 800]);
  });
});

describe('readAggregationTrace', () => {
  it('reads the golden trace', async () => {
    const trace = await readAggregationTrace(
      new URL('dlrm_trace_of_aggregated_samples.txt', GOLDEN).pathname,
      10_000,
    );
    expect(trace).toHaveLength(151);
    expect(trace.at(-1)).toBe(4130);
  });

  it.each([
    ['a gap', '0, 2, 2\n3, 5, 2\n', /line 2: "3, 5, 2" is not .* at row 2/],
    ['a wrong count', '0, 2, 3\n', /line 1/],
    ['a sample without pairs', '0, 0, 0\n', /line 1/],
    ['no number', '0, 2, 2\nx\n', /line 2: "x"/],
    ['a fraction', '0, 2.5, 2.5\n', /line 1/],
    ['a field too many', '0, 2, 2, 2\n', /line 1/],
    ['more rows than the data', '0, 200, 200\n', /line 1: the sample ends at row 200; .* 100 rows/],
    ['nothing', '\n', /has no line/],
  ])('refuses %s', async (_what, text, message) => {
    const path = join(folder, 'trace.txt');
    await writeFile(path, text);
    await expect(readAggregationTrace(path, 100)).rejects.toThrow(message);
  });

  it('names a file that is not there', async () => {
    await expect(readAggregationTrace(join(folder, 'none.txt'), 100)).rejects.toThrow(
      /none\.txt: there is no such file/,
    );
  });
});
