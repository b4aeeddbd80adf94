import { expect, it } from 'vitest';
import { UsageSeries } from '../../../../qdl/dispatch/usage-series.ts';

// Goal: what a node tells of its machine stays in bounded memory, loses no CPU time and no peak of
// memory, and is told as the present only while it is. Method: made-up reports.

const second = { intervalNs: 1e9, cpuNs: 5e8, residentBytes: 100, machineBusyNs: 15e8 };

it('counts from the begin of the run, in cores', () => {
  const series = new UsageSeries();
  series.add(second, 4e9);
  series.begin(5e9);
  series.add(second, 5.2e9);
  series.begin(6e9);
  series.add(second, 6e9);
  series.add({ intervalNs: 2e9, cpuNs: 5e9, residentBytes: 7 }, 8e9);
  series.add({ ...second, intervalNs: 0 }, 9e9);
  expect(series.points()).toEqual([
    { atNs: 1e9, cores: 0.5, residentBytes: 100, machineCores: 1.5 },
    { atNs: 3e9, cores: 2.5, residentBytes: 7 },
  ]);
});

it('takes no report of more than the machine has, and says why', () => {
  const series = new UsageSeries(() => ({ cpuCount: 4, memoryBytes: 1_000 }));
  series.begin(0);
  const add = (more: object): string | undefined => series.add({ ...second, ...more }, 1e9);
  expect(add({ cpuNs: 4e9, machineBusyNs: 4.4e9, residentBytes: 1_000 })).toBeUndefined();
  const words =
    'reported 9010000 s of CPU time in 1 s, with 4 processors at most; such reports are not used';
  expect(add({ cpuNs: Number.MAX_SAFE_INTEGER })).toBe(words);
  expect(add({ machineBusyNs: 5e9 })).toMatch(/^reported 5 s of CPU time in 1 s, with 4/);
  expect(add({ residentBytes: 1_001 })).toBe(
    'reported 1001 bytes of memory, of 1000; such reports are not used',
  );
  expect(series.points()).toMatchObject([{ cores: 4, machineCores: 4.4, residentBytes: 1_000 }]);
  expect(series.latest(1e9)?.cores).toBe(4);
  // Of a node that does not tell, or tells what no machine has.
  for (const cpuCount of [0, 2 ** 32 - 1]) {
    const other = new UsageSeries(() => ({ cpuCount, memoryBytes: 0 }));
    expect(other.add({ ...second, cpuNs: 100e9 }, 1e9)).toBeUndefined();
    expect(other.add({ ...second, cpuNs: 1e14 }, 1e9)).toMatch(/with 8192 processors at most/);
  }
});

it('has nothing before a run, and of a node that tells nothing', () => {
  const series = new UsageSeries();
  expect(series.latest(0)).toBeUndefined();
  series.add(second, 1e9);
  expect(series.points()).toEqual([]);
});

it('tells the newest report for three seconds', () => {
  const series = new UsageSeries();
  series.add(second, 1e9);
  expect(series.latest(4e9)).toMatchObject({ cores: 0.5, residentBytes: 100 });
  expect(series.latest(4.1e9)).toBeUndefined();
});

it('keeps 600 reports at most of a run of a day, and all that they count', () => {
  const series = new UsageSeries();
  series.begin(0);
  const seconds = 86_400;
  for (let i = 1; i <= seconds; i += 1) {
    series.add({ ...second, residentBytes: i === 5_000 ? 900 : 100 }, i * 1e9);
  }
  const points = series.points();
  expect(points.length).toBeLessThanOrEqual(600);
  expect(points.length).toBeGreaterThan(200);
  expect(points.at(-1)?.atNs).toBe(seconds * 1e9);
  for (const { cores, machineCores } of points) {
    expect(cores).toBeCloseTo(0.5);
    expect(machineCores).toBeCloseTo(1.5);
  }
  expect(Math.max(...points.map(({ residentBytes }) => residentBytes))).toBe(900);
});
