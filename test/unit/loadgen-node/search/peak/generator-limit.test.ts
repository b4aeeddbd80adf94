import { describe, expect, it } from 'vitest';
import { findPeak } from '../../../../../loadgen-node/search/peak/find-peak.ts';
import { loadText } from '../../../../../loadgen-node/search/peak/peak-result.ts';
import type { RunProbe } from '../../../../../loadgen-node/search/peak/peak-search.ts';
import { peakText, searchText } from '../../../../../loadgen-node/search/peak/print-peak.ts';
import { queueProbes } from '../../../../scenes/simulated-run/queue.ts';
import { END, RULE, searchOf, steady } from '../../../../scenes/simulated-run/steady-probe.ts';

/** Of one bound: no query is known. */
const NONE = { known: 0, over: 0 };

// Goal: a limit that is LoadGen's own is never called the SUT's, and costs no more time than any
// other. Method: probes by hand in place of runs, with the judgement of the engine.
describe('findPeak beside a LoadGen that is too slow', () => {
  const search = searchOf(10e6, {
    precision: 0.05,
    screeningNsMax: 30e9,
    full: { ...RULE, minDurationNs: 30e9 },
  });
  const queue = { law: 'M/D/1', serviceNs: 1e6, seed: 3 } as const;

  it('takes LoadGen for the limit where it is too slow twice', async () => {
    const late = { isGeneratorBound: true, generatorBoundReason: 'queries went out late' };
    const runProbe: RunProbe = async ({ load, kind }) =>
      load > 500 && kind !== 'unloaded' ? steady(9e9, { end: { ...END, ...late } }) : steady(1e6);
    const result = await findPeak(searchOf(10e6), runProbe);
    expect(result).toMatchObject({ ending: 'found', limit: 'generator' });
    expect(result.value).toBeGreaterThan(490);
    expect(result.value).toBeLessThanOrEqual(500);
    expect(result.limitText).toContain("The limit is LoadGen's");
    // No statistics say where the SUT's limit is: nothing may be called sure.
    const text = peakText(searchOf(10e6), result, 'out');
    expect(text).toMatch(/^Interval {2}The SUT's limit is unknown: [^:]*LoadGen\s+was too slow$/m);
  });

  it.each([
    ['at every load', [] as number[]],
    ['at every load but those that pile up queries', [0, 1, 2]],
  ])('ends where LoadGen is too slow %s, and says so', async (_, piled) => {
    const asked = searchOf(100e6, { screeningNsMax: 30e9, percentile: 0.9 });
    let tookNs = 0;
    const runProbe: RunProbe = async ({ load, kind, number, ...spec }) => {
      if (kind === 'unloaded') return steady(1e6);
      const durationNs = spec.durationNsMax ?? 30e9;
      tookNs += durationNs;
      const end = { ...END, durationNs, isGeneratorBound: true, generatorBoundReason: 'late' };
      const seen = { bounds: [], elapsedNs: 0, issuedQueries: load, waitingQueries: 0 };
      // The queries that wait grow and grow.
      for (let look = 1; piled.includes(number - 1) && look < 9; look += 1) {
        const waitingQueries = load * look;
        spec.isDecided?.({ ...seen, elapsedNs: look * 1e9, waitingQueries, bounds: [NONE] });
      }
      return steady(9e9, { end });
    };
    const result = await findPeak(asked, runProbe);
    expect(result).toMatchObject({ ending: 'unconfirmed', limit: 'generator' });
    expect(tookNs).toBeLessThanOrEqual(0.6 * asked.screeningNsMax);
    expect(result.probes.length).toBeLessThan(12);
    expect(peakText(asked, result, 'out')).toMatch(
      /^Peak {6}None is confirmed: LoadGen is the limit$/m,
    );
  });

  it('looks for the limit of LoadGen no longer than the screenings may take', async () => {
    const long = { ...END, durationNs: 10e9 };
    const late = { ...long, isGeneratorBound: true, generatorBoundReason: 'late' };
    const runProbe: RunProbe = async ({ load, kind }) => {
      const isLate = load > 777 && kind === 'screening';
      return steady(isLate ? 9e9 : 1e6, { end: isLate ? late : long });
    };
    const result = await findPeak(searchOf(10e6, { precision: 0.001 }), runProbe);
    const screenings = result.probes.filter(({ kind }) => kind === 'screening');
    expect(screenings).toHaveLength(12);
    expect(result).toMatchObject({ ending: 'found', limit: 'generator' });
    expect(result.value).toBeGreaterThan(500);
  });

  it('does not believe a LoadGen that was too slow once', async () => {
    let hasHappened = false;
    const inner = queueProbes(queue, search);
    const runProbe: RunProbe = async (spec) => {
      if (spec.number !== 2 || hasHappened) return await inner(spec);
      hasHappened = true;
      return steady(1e9, {
        end: { ...END, isGeneratorBound: true },
        explanation: 'a slow LoadGen',
      });
    };
    const result = await findPeak(search, runProbe);
    expect(result.limit).toBe('sut');
    expect(result.limitText).not.toContain('a slow LoadGen');
    expect(result.probes.map(({ verdict }) => verdict)).toContain('generator-bound');
  });

  it('says before how many full runs there are at most, where one at each load is disturbed', async () => {
    const asked = { ...search, full: { ...search.full, loadsMax: 3 } };
    const inner = queueProbes(queue, asked);
    const loads: number[] = [];
    const reasons = [{ rule: 'generator-bound', text: 'late', needed: '', seen: '', key: null }];
    const runProbe: RunProbe = async (spec) => {
      if (spec.kind !== 'full') return await inner(spec);
      const isFirst = !loads.includes(spec.load);
      loads.push(spec.load);
      return isFirst
        ? steady(1e9, { end: { ...END, isGeneratorBound: true }, isValid: false, reasons })
        : steady(1e9, {
            isValid: false,
            reasons: [{ ...reasons[0], rule: 'latency-bound' }] as never,
          });
    };
    await findPeak(asked, runProbe);
    expect(loads).toHaveLength(6);
    expect(searchText(asked, 'results')).toContain(
      'then 1 to 3 full runs (6 at most, where LoadGen is disturbed) of',
    );
  });

  it('makes few full runs where LoadGen is too slow in all that are long, with steps that grow', async () => {
    const inner = queueProbes(queue, search);
    const loads: number[] = [];
    const runProbe: RunProbe = async (spec) => {
      if (spec.kind !== 'full') return await inner(spec);
      loads.push(spec.load);
      const reasons = [{ rule: 'generator-bound', text: 'late', needed: '', seen: '', key: null }];
      return steady(1e9, { end: { ...END, isGeneratorBound: true }, isValid: false, reasons });
    };
    const result = await findPeak(search, runProbe);
    expect(result).toMatchObject({ ending: 'unconfirmed', limit: 'generator' });
    const first = loads[0] as number;
    // The first load is tried again, the others are not.
    expect(loads[1]).toBe(first);
    expect(new Set(loads).size).toBe(loads.length - 1);
    expect(loads).toHaveLength(5);
    expect(loads.at(-1)).toBeLessThan(first / 4);
    const { load = 0, probe } = result.held ?? {};
    expect(probe).toMatchObject({ kind: 'screening', verdict: 'keeps' });
    expect(load).toBeLessThan(probe?.scheduledPerSecond ?? 0);
    expect(load).toBeGreaterThan(600);
    const text = peakText(search, result, 'out').replace(/\s+/g, ' ');
    expect(text).toMatch(
      /Peak None is confirmed: LoadGen is the limit; the highest load with few enough late was [\d.]+ queries\/s, in screening \d+: [\d.]+ % of \d+ queries in [\d.]+ m?s/,
    );
    // One screening, one number: that of the table.
    const asked = loadText(search, probe?.load ?? 0);
    expect(text).toContain(`few enough late was ${asked}, in screening ${probe?.number}:`);
    expect(text).toMatch(
      /Interval By screenings alone the SUT's limit lies from [\d.]+ to [\d.]+ queries\/s, most likely/,
    );
  });
});
