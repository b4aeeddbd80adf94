import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LARGE_LAG } from '../../../../../loadgen-node/loadgen/engine/generator-bound.ts';
import { fitLine } from '../../../../../loadgen-node/present/text/figure-text.ts';
import type { RunPlan } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { writePeakCurve } from '../../../../../loadgen-node/search/peak/peak-curve.ts';
import type { PeakProbe } from '../../../../../loadgen-node/search/peak/peak-search.ts';
import { limitInterval, probeLine } from '../../../../../loadgen-node/search/peak/print-peak.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { ASKED, delaySearch, searchDelay } from '../../../../scenes/simulated-run/queue.ts';

const SEARCH = delaySearch(ASKED[1], 0.1);

function planOf(output: string): RunPlan {
  const rules = { key: 'delay', title: 'no model' };
  const lanes = [{ target: { dispatch: { nodes: ['10.0.0.2:50051'] } } }];
  return { output, rules, lanes } as unknown as RunPlan;
}

// Goal: a search leaves its probes as a curve whose peak is the confirmed one, also where it was
// broken off. Method: a simulated search of a queue, drawn into a folder.
describe('curve of a search', () => {
  it('marks the confirmed peak', async () => {
    const output = tempFolder();
    const result = await searchDelay(SEARCH, 3);
    const { probes } = result;
    const identity = { 'names of the nodes': 'sut-a', 'models of the nodes': 'delay' };
    writePeakCurve({ run: planOf(output), search: SEARCH, identity, probes, result });
    const page = readFileSync(join(output, 'longhaul_curve.html'), 'utf8');
    expect(page).toContain('queries/s scheduled in a VALID run');
    expect(page).toContain('sut-a at 10.0.0.2:50051');
    const loads = new Set(probes.filter(({ kind }) => kind !== 'unloaded').map((one) => one.load));
    const rows = readFileSync(join(output, 'curve.csv'), 'utf8').trimEnd().split('\r\n');
    expect(rows.length - 1).toBeGreaterThanOrEqual(loads.size);
    writePeakCurve({ run: planOf(output), search: SEARCH, identity, probes, result: null });
    const broken = readFileSync(join(output, 'longhaul_curve.html'), 'utf8');
    expect(broken).toContain('INCOMPLETE: the search was broken off');
    expect(readFileSync(join(output, 'curve.svg'), 'utf8')).toContain('bound 100 ms');
  });
});

// Goal: a line of the table fits a screen, whatever is wrong with the probe.
describe('a probe as a line', () => {
  it.each<[PeakProbe['verdict'], string, string]>([
    [
      'generator-bound',
      `LoadGen was too slow: ${LARGE_LAG} is 12.3 ms, more than 10 % of the latency bound (10 ms), and the SUT is too slow as well: taken from the issue, latency at the target percentile is 300 ms; other work held its core`,
      'generator-bound: dispatch lag p99 12.3 ms',
    ],
    [
      'generator-bound',
      'LoadGen was too slow: the verdict would flip if latency were measured from the issue instead of the schedule; other work',
      'generator-bound: the verdict would flip',
    ],
    [
      'misses',
      `VALID, but ${'the queue grew all through the run '.repeat(5)}`,
      'misses: VALID, but',
    ],
    ['undecided', 'near the limit or too short to tell', 'near the limit or too short to tell'],
  ])('%s', async (verdict, why, shown) => {
    const [probe] = (await searchDelay(SEARCH, 1)).probes as [PeakProbe];
    const line = probeLine(SEARCH, { ...probe, verdict, why, lagP99Ns: 12.3e6 });
    expect(line).toContain(shown);
    // As a terminal shows it.
    expect(fitLine(line, { isTTY: true }).length).toBeLessThan(120);
  });
});

describe('a search in words', () => {
  it('has few words for a full run that is INVALID: the columns have what was seen', async () => {
    const [probe] = (await searchDelay(SEARCH, 1)).probes as [PeakProbe];
    const lineOf = (why: string) =>
      probeLine(SEARCH, { ...probe, kind: 'full', verdict: 'misses', why: `INVALID: ${why}` });
    expect(lineOf('The latency bound was missed: needed is 10 ms, seen was 11 ms.')).toMatch(
      / misses: INVALID, the latency bound was missed$/,
    );
    expect(lineOf('2 of 9 issued samples were lost (first: no answer).')).toMatch(
      / misses: INVALID, 2 of 9 issued samples were lost$/,
    );
  });

  it('names the probes whose own verdict is outside the interval', async () => {
    const result = await searchDelay(SEARCH, 1);
    const { interval, probes } = result;
    if (interval === null) throw new Error('no interval');
    expect(limitInterval(SEARCH, result)).not.toContain('otherwise');
    const [first] = probes as [PeakProbe];
    const other = { ...first, kind: 'screening', number: 77, verdict: 'keeps' } as const;
    const above = { ...other, load: 1.1 * interval.high };
    expect(limitInterval(SEARCH, { ...result, probes: [...probes, above] })).toMatch(
      /, by all probes together: alone, probe 77 would say otherwise$/,
    );
  });
});
