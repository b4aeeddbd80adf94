import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  LATENCY_PARTS,
  type LatencyPart,
} from '../../../../../loadgen-node/observe/split/latency-parts.ts';
import { latencySplit } from '../../../../../loadgen-node/observe/split/latency-split.ts';
import { rowsOfRecords } from '../../../../../loadgen-node/observe/split/split-sums.ts';
import { whyInShort } from '../../../../../loadgen-node/observe/split/split-text.ts';
import { type PartRow, partRecords } from '../../../../scenes/simulated-run/records.ts';

// Goal: the parts of a latency add up to it, and the split names the part that grows, with its
// size. Method: records made from parts that are known; random ones for the sum.

const MS = 1e6;

function figuresOf(split: ReturnType<typeof latencySplit>, part: LatencyPart) {
  const found = split?.parts.find((figures) => figures.part === part);
  if (found === undefined) throw new Error(`no ${part}`);
  return found;
}

/** 1,000 samples of 10 ms compute and 1 ms network; of the last ten one part takes `ns` more. */
function slowTail(part: LatencyPart, ns: number): PartRow[] {
  return Array.from({ length: 1_000 }, (_, i): PartRow => {
    const row = { network: 1 * MS, compute: 10 * MS };
    return i < 990 ? row : { ...row, [part]: ns };
  });
}

describe('the parts of a latency', () => {
  it('add up to it and are never negative, or the node reported more time than passed', () => {
    const ns = fc.integer({ min: 0, max: 2 ** 40 });
    const row = fc.record({
      ...Object.fromEntries(LATENCY_PARTS.map((part) => [part, ns])),
      network: fc.oneof(
        fc.integer({ min: -(2 ** 30), max: 2 ** 40 }),
        fc.integer({ min: -20_000, max: 0 }),
      ),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) => {
        const records = partRecords(rows as PartRow[]);
        const parts = new Float64Array(LATENCY_PARTS.length);
        const [piece] = rowsOfRecords(records);
        rows.forEach((_, i) => {
          const latencyNs = (records.completedNs[i] as number) - (records.scheduledNs[i] as number);
          expect(piece?.readParts(i, parts)).toBe(latencyNs);
          const network = parts[LATENCY_PARTS.indexOf('network')] as number;
          if (network > 0) expect(parts.reduce((a, b) => a + b, 0)).toBe(latencyNs);
          else if (network === 0)
            expect(parts.reduce((a, b) => a + b, 0)).toBeCloseTo(latencyNs, 1);
          const others = [...parts].filter((_, part) => LATENCY_PARTS[part] !== 'network');
          expect(Math.min(...others)).toBeGreaterThanOrEqual(0);
        });
      }),
    );
  });

  it('are those that were put in, the wire being what remains', () => {
    const known = Object.fromEntries(LATENCY_PARTS.map((part, i) => [part, 2 ** i * 1_000]));
    const parts = new Float64Array(LATENCY_PARTS.length);
    rowsOfRecords(partRecords([known]))[0]?.readParts(0, parts);
    expect([...parts]).toEqual(LATENCY_PARTS.map((part) => known[part]));
  });
});

describe('latencySplit', () => {
  it.each<[LatencyPart, RegExp]>([
    ['dispatch', /LoadGen node cores of its own/],
    ['send', /credit/],
    ['queue', /SUT is near its limit/],
    ['batch', /more workers/],
    ['reply', /late to send/],
    ['decode', /--response-compression/],
  ])('names %s where it grows at the tail, by how much, and what to try', (part, remedy) => {
    const split = latencySplit(partRecords(slowTail(part, 30 * MS)));
    expect(split?.growsMost).toBe(part);
    expect(figuresOf(split, part)).toMatchObject({ typicalNs: 0, tailNs: 30 * MS });
    expect(figuresOf(split, part).meanNs).toBeCloseTo(0.3 * MS);
    expect(split?.text).toContain('Typical samples took 11 ms, the slowest 1 % 41 ms, 30 ms more');
    expect(split?.text).toContain('grows by 30 ms, from 0 ns to 30 ms');
    expect(split?.text).toMatch(remedy);
  });

  it.each([
    [true, 'LoadGen issued late: give the LoadGen node cores'],
    [false, 'it was not the limit'],
  ])('calls LoadGen late only where the verdict does: %s', (isGeneratorBound, expected) => {
    const text = latencySplit(partRecords(slowTail('dispatch', 30 * MS)), {
      isGeneratorBound,
    })?.text;
    expect(text).toContain(expected);
    expect(text?.includes('LoadGen issued late')).toBe(isGeneratorBound);
  });

  it.each(['queue', 'compute'] as const)(
    'speaks of no workers and no batches where there is no model: %s',
    (part) => {
      const records = partRecords(slowTail(part, 30 * MS));
      expect(latencySplit(records)?.text).toMatch(/--workers|--threads-per-worker/);
      const text = latencySplit(records, { hasModel: false })?.text;
      expect(text).toMatch(/its settings say/);
      expect(text).not.toMatch(/worker|batch|the model/);
    },
  );

  it('names the largest part where the tail is like the rest', () => {
    const split = latencySplit(partRecords(slowTail('queue', 0)));
    expect(split?.text).toContain('the tail is hardly slower');
    expect(split?.text).toContain('The largest part is compute (the model): 10 ms, 91 % of it');
  });

  it('says of Offline that waiting is by construction, and what a sample takes behind it', () => {
    const rows = Array.from(
      { length: 500 },
      (_, i): PartRow => ({
        query: 0,
        scheduledNs: 0,
        queue: i * MS,
        compute: 4 * MS,
        network: MS,
      }),
    );
    const text = latencySplit(partRecords(rows))?.text;
    expect(text).toMatch(/by construction 98 % of it is waiting/);
    expect(text).toContain('the most is compute (the model): 4 ms in the mean');
    expect(text).not.toContain('near its limit');
  });

  it('takes of a query of several samples the one that came last', () => {
    const rows = Array.from(
      { length: 800 },
      (_, i): PartRow => ({
        query: Math.floor(i / 8),
        scheduledNs: Math.floor(i / 8) * MS,
        compute: (1 + (i % 8)) * MS,
      }),
    );
    const split = latencySplit(partRecords(rows));
    expect(split?.sampleCount).toBe(100);
    expect(figuresOf(split, 'compute').meanNs).toBe(8 * MS);
  });

  it('leaves out the samples whose node reported more time than passed, and says how many and by how much', () => {
    // Their latency is the others': by it they would be among the typical ones.
    const toldTooMuch = { compute: 13 * MS, network: -2 * MS };
    const rows = slowTail('queue', 0).map((row, i) => (i < 3 ? { ...row, ...toldTooMuch } : row));
    const split = latencySplit(partRecords(rows));
    expect(split?.sampleCount).toBe(997);
    expect(figuresOf(split, 'network')).toMatchObject({ meanNs: MS, typicalNs: MS, tailNs: MS });
    expect(split?.text).toContain(
      '3 samples are not in it: their SUT node reported more time than passed here, by up to 2 ms.',
    );
    const all = rows.map((row) => ({ ...row, network: -2 * MS }));
    expect(latencySplit(partRecords(all))).toBeNull();
  });

  it('says no more than that where many are left out: of which is decided by their times', () => {
    const rows = slowTail('queue', 30 * MS).map((row, i) =>
      i < 11 ? { ...row, network: -2 * MS } : row,
    );
    const split = latencySplit(partRecords(rows));
    const leftOut = 'not known: of 11 of 1,000 samples, SUT nodes reported more time than passed';
    expect(split?.text).toBe(`Where the time went is ${leftOut}.`);
    if (split === null) throw new Error('no split');
    expect(whyInShort(split, { isOffline: false, hasModel: true })).toBe(leftOut);
    // Two less are few enough.
    const few = latencySplit(partRecords(rows.slice(2)));
    expect(few?.text).toMatch(/^Typical samples took 11 ms, the slowest 1 % 41 ms, /);
  });

  it('takes off what a node tells too much by the error of its clock', () => {
    const rows = slowTail('queue', 0).map((row) => ({ ...row, network: -0.001 * 10 * MS }));
    const split = latencySplit(partRecords(rows));
    expect(split?.sampleCount).toBe(1_000);
    expect(figuresOf(split, 'network').meanNs).toBe(0);
    expect(figuresOf(split, 'compute').meanNs).toBeCloseTo(9.99 * MS, -1);
    expect(split?.text).not.toContain('told more');
  });

  it('names the node that has the slow samples', () => {
    const rows = Array.from({ length: 2_000 }, (_, i): PartRow => {
      const node = i % 2;
      return { node, compute: (node === 1 && i % 40 === 1 ? 50 : 10) * MS };
    });
    const text = latencySplit(partRecords(rows), { nodeNames: ['sut-a', 'sut-b'] })?.text;
    expect(text).toContain('SUT node sut-b answered 50 % of the samples and 100 % of the slowest');
    expect(text).toContain('compute is 12 ms in the mean there, 10 ms elsewhere');
  });

  it('leaves out what was lost or not reported, and says how many; of nothing there is no split', () => {
    const rows: PartRow[] = [{ compute: MS }, { fate: 'lost' }, { fate: 'untold', network: MS }];
    const split = latencySplit(partRecords(rows));
    expect(split?.sampleCount).toBe(1);
    expect(split?.text).toContain('2 of 3 samples are not in it');
    expect(latencySplit(partRecords(rows.slice(1)))).toBeNull();
    expect(latencySplit(partRecords([]))).toBeNull();
  });

  it('joins the parts of a run', () => {
    const rows = [...slowTail('queue', 0), { part: 1, compute: 50 * MS }];
    expect(latencySplit(partRecords(rows))?.sampleCount).toBe(1_001);
  });
});
