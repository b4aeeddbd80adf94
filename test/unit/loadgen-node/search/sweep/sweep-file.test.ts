import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseLinkGrid } from '../../../../../loadgen-node/search/sweep/link-conditions.ts';
import {
  type CellResult,
  cellLine,
  cellOf,
  heatMapOf,
  readSweepToResume,
  SWEEP_FILE,
  type Sweep,
  type SweepCell,
  sweepTable,
  writeSweep,
} from '../../../../../loadgen-node/search/sweep/sweep-file.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: a sweep that was broken off goes on with the cells that are done, and never with those of
// another question.
const SWEEP: Sweep = {
  schemaVersion: 3,
  longhaul: '0.1.0',
  question: { settings: { benchmark: 'digits' }, linkHook: './link', unit: 'queries/s' },
  notes: ['a link stood between'],
  cells: [
    {
      link: { delayNs: 1e6, bitsPerSecond: null, lossShare: 0 },
      folder: 'cell_1',
      seconds: 12,
      result: {
        value: 123.4,
        tokensPerSecond: null,
        interval: { low: 120, high: null },
        ending: 'open',
        limit: 'load-max',
        limitText: 'No load missed the bound.',
        probeCount: 5,
        seen: { roundTripP50Ns: 2.1e6, roundTripMaxNs: 3e6, bitsPerSecond: 612.4e6 },
        hook: 'by netem',
      },
    },
    {
      link: { delayNs: 5e6, bitsPerSecond: null, lossShare: 0 },
      folder: 'cell_2',
      seconds: 1,
      result: { failure: 'the node was lost' },
    },
  ],
};

it('reads what it wrote, for the same question', () => {
  const folder = tempFolder();
  expect(() => readSweepToResume(folder, SWEEP.question)).toThrow(
    'there is no sweep to go on with',
  );
  writeSweep(folder, SWEEP);
  const read = readSweepToResume(folder, SWEEP.question);
  expect(read).toEqual(SWEEP);
  expect(cellOf(SWEEP, { delayNs: 5e6, bitsPerSecond: null, lossShare: 0 })?.folder).toBe('cell_2');
  expect(cellOf(SWEEP, { delayNs: 5e6, bitsPerSecond: 1e9, lossShare: 0 })).toBeUndefined();
});

it.each([
  ['another benchmark', { settings: { benchmark: 'echo' } }, 'benchmark was digits, is echo'],
  ['a setting more', { settings: { benchmark: 'digits', round: 'v0.5' } }, 'round was not set'],
  ['a setting less', { settings: {} }, 'benchmark was digits, is not set'],
  ['another hook', { linkHook: ':' }, 'linkHook was ./link, is :'],
])('refuses cells of %s', (_case, said, expected) => {
  const folder = tempFolder();
  writeSweep(folder, SWEEP);
  expect(() => readSweepToResume(folder, { ...SWEEP.question, ...said })).toThrow(expected);
});

it.each([
  ['half a file', (text: string) => text.slice(0, 100), 'is not JSON'],
  [
    'another version, whatever its form',
    () => '{"schemaVersion":2,"cells":[{"seconds":"12"}]}',
    'has version 2; this longhaul reads version 3: choose another --output',
  ],
  ['what is no sweep', () => '[]', 'is no sweep: the file must be'],
  ['a field of another type', (text: string) => text.replace('12,', '"12",'), 'cells[0].seconds'],
])('refuses %s', (_case, spoil, expected) => {
  const folder = tempFolder();
  writeSweep(folder, SWEEP);
  const path = join(folder, SWEEP_FILE);
  writeFileSync(path, spoil(readFileSync(path, 'utf8')));
  expect(() => readSweepToResume(folder, SWEEP.question)).toThrow(expected);
});

it('marks the cell at which the sweep was ended', () => {
  const grid = parseLinkGrid({ delay: '1,5ms', rate: 'unlimited', loss: '0' });
  const interrupted = { delayNs: 5e6, bitsPerSecond: null, lossShare: 0 };
  const { cells } = heatMapOf({ ...SWEEP, cells: [] }, grid, { title: 'digits', interrupted });
  expect(cells.map(([cell]) => cell && 'word' in cell && cell.word)).toEqual([
    'not measured',
    'interrupted',
  ]);
});

it('shows every cell: measured, failed with its reason, and not measured', () => {
  const grid = parseLinkGrid({ delay: '1,5ms', rate: 'unlimited,1gbit', loss: '0' });
  const text = sweepTable(SWEEP, grid);
  expect(text.split('\n').slice(1, 4)).toEqual([
    'delay             unlimited          1gbit',
    '1ms     123.4 (120 or more)   not measured',
    '5ms                  failed   not measured',
  ]);
  expect(text).toContain('failed: 5ms unlimited 0%: the node was lost');
  expect(text).toContain('note: a link stood between');
  expect(heatMapOf(SWEEP, grid, { title: 'digits' }).cells).toEqual([
    [
      {
        value: 123.4,
        text: 'No load missed the bound. Seen before the search: round trip 2.1 ms, 612mbit to the SUT. The link hook: by netem.',
      },
      { word: 'not measured', why: '' },
    ],
    [
      { word: 'failed', why: 'the node was lost' },
      { word: 'not measured', why: '' },
    ],
  ]);
  expect(SWEEP.cells.map(cellLine)).toEqual([
    '1ms unlimited 0%: 123.4 (120 or more), 5 probes, seen: round trip 2.1 ms, 612mbit to the SUT (12 s)',
    '5ms unlimited 0%: failed: the node was lost (1 s)',
  ]);
});

it('has the tokens of a token model beside its peak', () => {
  const [first] = SWEEP.cells;
  const result = { ...(first?.result as CellResult), tokensPerSecond: 1234.5 };
  const cell = { ...(first as SweepCell), result };
  expect(cellLine(cell)).toContain('123.4 (120 or more), 1,235 tokens/s, 5 probes');
  const grid = parseLinkGrid({ delay: '1ms', rate: 'unlimited', loss: '0' });
  const { cells } = heatMapOf({ ...SWEEP, cells: [cell] }, grid, { title: 'delay' });
  expect(cells[0]?.[0]).toMatchObject({
    text: expect.stringMatching(/^1,235 tokens\/s completed\. No/),
  });
});
