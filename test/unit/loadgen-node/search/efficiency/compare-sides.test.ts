import { beforeAll, describe, expect, it } from 'vitest';
import type { RunFigures } from '../../../../../loadgen-node/observe/figures/figure-names.ts';
import { LATENCY_PARTS } from '../../../../../loadgen-node/observe/split/latency-parts.ts';
import { compareSides } from '../../../../../loadgen-node/search/efficiency/compare-sides.ts';
import {
  type EfficiencySide,
  requireSame,
  type SideRun,
} from '../../../../../loadgen-node/search/efficiency/efficiency-file.ts';
import { Turns } from '../../../../../loadgen-node/search/efficiency/measure-sides.ts';
import { ASKED, delaySearch, searchDelay } from '../../../../scenes/simulated-run/queue.ts';
import { sideOf } from './sides.ts';

// Goal: the efficiency and its ends follow from both sides' figures, what differs is told, and
// unlike is not compared.
const MS = 1e6;

function runOf(figures: RunFigures, load: number | null = null, networkNs = 0): SideRun {
  const means = { typicalNs: 0, tailNs: 0 };
  const parts = LATENCY_PARTS.map((part) => ({
    ...{ part, ...means, meanNs: part === 'network' ? networkNs : 1e3 },
  }));
  const split = { sampleCount: 100, parts, growsMost: 'queue', text: '' } as const;
  return { load, isValid: true, whyInvalid: null, figures, split, folder: 'run_1' };
}

function compare(
  scenario: string,
  inside: Partial<EfficiencySide>,
  outside: Partial<EfficiencySide>,
) {
  const sides = [sideOf('in-process', inside), sideOf('network', outside)] as const;
  const { lines, comparison } = compareSides(scenario, ...sides);
  return { text: lines.join('\n'), ...comparison };
}

describe('the comparison of two searches', () => {
  const search = delaySearch(ASKED[1], 0.1);
  const found = async (seed: number) => ({
    search: { search, probes: (await searchDelay(search, seed)).probes },
  });
  let one: Awaited<ReturnType<typeof found>>;
  let other: typeof one;
  beforeAll(async () => {
    one = await found(3);
    other = await found(4);
  });

  it('has the words of compare, and ends that hold every pair of ends', () => {
    const { efficiency, text } = compare('Server', one, other);
    expect(efficiency?.low).toBeLessThan(efficiency?.value ?? 0);
    expect(efficiency?.high).toBeGreaterThan(efficiency?.value ?? 0);
    const turned = compare('Server', other, one).efficiency;
    expect(turned?.low).toBeCloseTo(1 / (efficiency?.high ?? 0), 9);
    expect(text).toMatch(/^Base {10}in process {2}peak [\d.]+ queries\/s, limit [\d.]+ to/m);
    expect(text).toMatch(/^Result {8}.*in process.*over the network.*intervals/m);
    expect(text).toMatch(/^Efficiency {4}over the network the SUT has [\d.]+ % \(.* to .* %\)/m);
  });

  it('has none where a side has no peak, and says why', () => {
    const none = { search: { search, probes: other.search.probes.slice(0, 1) } };
    const lost = none.search.probes.map((probe) => ({
      ...{ ...probe, verdict: 'misses' as const },
      bounds: probe.bounds.map((bound) => ({ ...bound, overQueries: probe.queries })),
    }));
    const { efficiency, text } = compare('Server', one, { search: { search, probes: lost } });
    expect(efficiency).toBeNull();
    expect(text).toContain('over the network has no peak: there is nothing to compare');
    expect(text).toMatch(
      /^Limit {9}over the network: The bound of 100 ms is missed even by one query/m,
    );
  });

  it('compares runs at one load, and says where the difference is', () => {
    const at = (load: number, p99: number, networkNs = 0): SideRun =>
      runOf({ p50: 4 * MS, p99 }, load, networkNs);
    const inside = { ...one, runs: [at(160, 10 * MS), at(100, 6 * MS)] };
    const outside = { ...other, runs: [at(100, 9 * MS, 2 * MS)] };
    const { text, figures } = compare('Server', inside, outside);
    expect(figures.map(({ figure }) => figure)).toEqual(['p50', 'p99']);
    expect(text).toMatch(/^at 100\/s +in process +network +difference/m);
    expect(text).toMatch(/^p99 +6 ms +9 ms +\+3 ms \(\+50 %\)/m);
    expect(text).toMatch(/^network +0 ns +2 ms +\+2 ms$/m);
    expect(text).toContain('one pair of runs');
  });
});

describe('the comparison of runs in turns', () => {
  const rates = (list: readonly number[]) => ({
    runs: list.map((rate) => runOf({ completed_qps: rate })),
  });

  it('has the median of the pairs, and says how sure their range is', () => {
    const { efficiency, text } = compare('Offline', rates([100, 200, 100]), rates([90, 190, 80]));
    expect(efficiency?.value).toBeCloseTo(0.9);
    expect(efficiency?.low).toBeCloseTo(0.8);
    expect(efficiency?.high).toBeCloseTo(0.95);
    expect(text).toContain('medians of 3 pairs of runs in turns');
    expect(text).toContain('the true ones lie there with 75 %');
    expect(text).not.toContain('surely');
  });

  it('is sure of what all of five pairs say', () => {
    const slower = [90, 91, 92, 93, 94];
    const { text } = compare('Offline', rates([100, 100, 100, 100, 100]), rates(slower));
    expect(text).toMatch(/^completed_qps .* surely worse$/m);
  });

  it('is of tokens per second where there are tokens', () => {
    const runs = (completed_qps: number, tokens_per_second: number) => ({
      runs: [runOf({ completed_qps, tokens_per_second })],
    });
    expect(compare('Offline', runs(10, 800), runs(9, 600)).efficiency?.value).toBeCloseTo(0.75);
  });

  it('leaves latencies out where Offline runs have other numbers of samples, and says so', () => {
    const side = (samples: number) => ({
      runs: [runOf({ p99: samples * MS, completed_qps: 100, samples }, null, MS)],
    });
    const unlike = compare('Offline', side(2_743), side(2_219));
    expect(unlike.figures.map(({ figure }) => figure)).toEqual(['completed_qps', 'samples']);
    expect(unlike.parts).toEqual([]);
    expect(unlike.efficiency?.value).toBe(1);
    expect(unlike.text).toMatch(
      /^note: latencies are left out: .* a run in process had 2,743, its pair over the network 2,219$/m,
    );
    const like = compare('Offline', side(2_743), side(2_743));
    expect(like.figures.map(({ figure }) => figure)).toContain('p99');
    expect(like.parts).not.toEqual([]);
    expect(like.text).not.toContain('left out');
    expect(compare('SingleStream', side(2_743), side(2_219)).parts).not.toEqual([]);
  });

  it('turns the quotient round where the result is a latency', () => {
    const runs = (p90s: readonly number[]) => ({ runs: p90s.map((p90) => runOf({ p90 })) });
    const { efficiency } = compare('SingleStream', runs([8 * MS, 8 * MS]), runs([10 * MS, 8 * MS]));
    expect(efficiency?.low).toBeCloseTo(0.8);
    expect(efficiency?.high).toBeCloseTo(1);
  });

  it('warns of runs that are INVALID', () => {
    const [good] = rates([100]).runs as [SideRun];
    const runs = [good, { ...good, isValid: false, whyInvalid: 'It was too short.' }];
    const { warnings } = compare('Offline', { runs }, { runs: [good] });
    expect(warnings).toEqual([
      '1 of 2 runs in process are INVALID, the first one (run_1) because: It was too short.',
    ]);
  });
});

it.each([
  ['another model', { model: { name: 'm', sha256: 'bad', configuration: 'm/1' } }, 'SHA-256'],
  ['other settings', { model: { name: 'm', sha256: 'f00', configuration: 'm/2' } }, 'm/2'],
  ['other seeds', { question: { scenario: 'Server', seed: '2' } }, 'seed: in process 1'],
  ['a setting less', { question: { scenario: 'Server' } }, 'over the network not set'],
])('refuses to compare %s', (_case, said, expected) => {
  const inProcess = sideOf('in-process', {});
  expect(() => requireSame(inProcess, sideOf('network', said))).toThrow(expected);
  expect(() => requireSame(inProcess, sideOf('network', {}))).not.toThrow();
});

// Goal: two sides that are measured on one machine share its time step by step, and never overlap.
async function go(turns: Turns, who: number, steps: number, seen: string[]): Promise<void> {
  for (let i = 0; i < steps; i += 1) {
    await turns.step(who, async () => {
      seen.push(`${who} begins`);
      await Promise.resolve();
      seen.push(`${who} ends`);
    });
  }
  turns.leave(who);
}

it('lets each side make a step in turn, and the longer one go on alone', async () => {
  const turns = new Turns(2);
  const seen: string[] = [];
  await Promise.all([go(turns, 0, 1, seen), go(turns, 1, 3, seen)]);
  const steps = [0, 1, 1, 1].flatMap((who) => [`${who} begins`, `${who} ends`]);
  expect(seen).toEqual(steps);
});

it('goes on after a step that failed', async () => {
  const turns = new Turns(2);
  const failed = turns.step(0, () => Promise.reject(new Error('lost')));
  await expect(failed).rejects.toThrow('lost');
  turns.leave(0);
  expect(await turns.step(1, () => Promise.resolve('done'))).toBe('done');
});
