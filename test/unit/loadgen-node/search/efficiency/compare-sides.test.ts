import { describe, expect, it } from 'vitest';
import { LATENCY_PARTS } from '../../../../../loadgen-node/observe/split/latency-parts.ts';
import { compareSides } from '../../../../../loadgen-node/search/efficiency/compare-sides.ts';
import {
  type EfficiencySide,
  requireSame,
  type SideRun,
  type SideSearch,
} from '../../../../../loadgen-node/search/efficiency/efficiency-sides.ts';
import {
  efficiencySentence,
  efficiencyTable,
} from '../../../../../loadgen-node/search/efficiency/efficiency-text.ts';
import { Turns } from '../../../../../loadgen-node/search/efficiency/plan-efficiency.ts';

// Goal: the efficiency and its band follow from both sides' figures, what differs is told, and unlike is not compared.
const MS = 1e6;

function runOf(said: { load?: number; p99?: number; rate?: number; network?: number }): SideRun {
  const { load = null, p99 = 10 * MS, rate = 100, network = 0 } = said;
  return {
    load,
    isValid: true,
    whyInvalid: null,
    ...{ samplesPerSecond: rate, tokensPerSecond: null, tokenTimes: null },
    latency: { meanNs: 5 * MS, p50Ns: 4 * MS, p90Ns: 8 * MS, p99Ns: p99, p999Ns: 2 * p99 },
    split: {
      sampleCount: 100,
      parts: LATENCY_PARTS.map((part) => ({
        part,
        meanNs: part === 'network' ? network : 1e3,
        typicalNs: 0,
        tailNs: 0,
      })),
      growsMost: 'queue',
      text: '',
    },
    folder: 'run_1',
  };
}

function searchOf(value: number | null, low: number, high: number | null): SideSearch {
  const ending = value === null ? 'unconfirmed' : 'found';
  return {
    ...{ ending, value, interval: { low, high }, confidence: 0.95, limitText: 'The SUT is full.' },
    tokensPerSecond: null,
    probes: [],
  };
}

function sideOf(kind: EfficiencySide['kind'], said: Partial<EfficiencySide>): EfficiencySide {
  return {
    kind,
    sutName: kind,
    measuredAt: '2026-01-01T00:00:00.000Z',
    machine: { hostname: 'a', cpuModel: 'b', cpuCount: 2, bootId: 'c' },
    model: { name: 'm', sha256: 'f00', configuration: 'm/1' },
    question: { scenario: 'Server', seed: '1' },
    search: null,
    runs: [],
    ...said,
  };
}

describe('the comparison of two searches', () => {
  it('has a band that holds every pair of ends', () => {
    const inProcess = sideOf('in-process', { search: searchOf(200, 190, 210) });
    const network = sideOf('network', { search: searchOf(150, 152, 160) });
    const { efficiency } = compareSides('Server', inProcess, network);
    // The confirmed value lies below its interval: the band holds it.
    expect(efficiency).toMatchObject({ value: 0.75, low: 150 / 210, high: 160 / 190 });
  });

  it.each([
    ['was not confirmed', searchOf(null, 100, 120), 'unconfirmed'],
    ['found no upper end', searchOf(100, 100, null), 'no confirmed peak with an upper end'],
  ])('has no efficiency where a side %s, and says why', (_case, search, why) => {
    const inProcess = sideOf('in-process', { search });
    const network = sideOf('network', { search: searchOf(150, 140, 160) });
    const comparison = compareSides('Server', inProcess, network);
    expect(comparison.efficiency).toBeNull();
    expect(efficiencySentence(comparison)).toContain(why);
  });

  it('compares latencies at one load, and says where the difference is', () => {
    const inProcess = sideOf('in-process', {
      search: searchOf(200, 190, 210),
      runs: [runOf({ load: 160 }), runOf({ load: 100, p99: 6 * MS })],
    });
    const network = sideOf('network', {
      search: searchOf(150, 140, 160),
      runs: [runOf({ load: 100, p99: 9 * MS, network: 2 * MS })],
    });
    const comparison = compareSides('Server', inProcess, network);
    expect(comparison.latency).toMatchObject({ load: 100, pairs: 1, p99Low: 3 * MS });
    expect(efficiencySentence(comparison)).toBe(
      'Over the network the SUT has 75 % (66.7 % to 84.2 %) of what it has in process. ' +
        'At 100 queries/s on both sides, the latency differs by +0 ns at p50 and +3 ms at p99. ' +
        'In the mean most of it is network: +2 ms (0 ns in process, 2 ms over the network).',
    );
    expect(efficiencyTable(comparison)).toContain('network');
  });
});

describe('the comparison of token models', () => {
  const timed = (run: SideRun, tokensPerSecond: number, ttftMs: number, tpotMs: number) => ({
    ...{ ...run, tokensPerSecond },
    tokenTimes: {
      ...{ ttftP50Ns: (ttftMs / 2) * MS, ttftP99Ns: ttftMs * MS },
      ...{ tpotP50Ns: (tpotMs / 2) * MS, tpotP99Ns: tpotMs * MS },
    },
  });

  it('has the tokens of both peaks, and both times at one load', () => {
    const inProcess = sideOf('in-process', {
      search: { ...searchOf(200, 190, 210), tokensPerSecond: 8000 },
      runs: [timed(runOf({ load: 120 }), 4800, 100, 20)],
    });
    const network = sideOf('network', {
      search: { ...searchOf(150, 140, 160), tokensPerSecond: 6100 },
      runs: [timed(runOf({ load: 120 }), 4790, 130, 21)],
    });
    const comparison = compareSides('Server', inProcess, network);
    expect(comparison.efficiency?.tokens).toEqual({ inProcess: 8000, network: 6100 });
    const table = efficiencyTable(comparison);
    expect(table).toMatch(/^tokens\/s completed there +8000 +6100 +76.3 %$/m);
    expect(table).toMatch(/^TTFT p99 +100 ms +130 ms +\+30 ms$/m);
    expect(table).toMatch(/^TPOT p50 +10 ms +10.5 ms +\+500 µs$/m);
    expect(efficiencySentence(comparison)).toContain(
      'At p99 TTFT differs by +30 ms, TPOT by +1 ms.',
    );
  });

  it('is of tokens per second where there is no load to search', () => {
    const runs = (rate: number, tokensPerSecond: number) => [
      { ...runOf({ rate }), tokensPerSecond },
    ];
    const inProcess = sideOf('in-process', { runs: runs(10, 800) });
    const network = sideOf('network', { runs: runs(9, 600) });
    const { efficiency } = compareSides('Offline', inProcess, network);
    expect(efficiency).toMatchObject({ value: 0.75, what: 'completed tokens/s', inProcess: 800 });
  });
});

describe('the comparison of runs in turns', () => {
  it('has the median of the pairs, and says how sure their range is', () => {
    const rates = (list: readonly number[]): SideRun[] => list.map((rate) => runOf({ rate }));
    const inProcess = sideOf('in-process', { runs: rates([100, 200, 100]) });
    const network = sideOf('network', { runs: rates([90, 190, 80]) });
    const { efficiency, latency } = compareSides('Offline', inProcess, network);
    expect(efficiency).toMatchObject({ value: 0.9, low: 0.8, high: 0.95 });
    expect(efficiency?.band).toContain('75 % confidence');
    expect(latency).toBeNull();
  });

  it('turns the quotient round where the result is a latency', () => {
    const inProcess = sideOf('in-process', { runs: [runOf({})] });
    const slow = runOf({});
    const network = sideOf('network', {
      runs: [{ ...slow, latency: { ...slow.latency, p90Ns: 10 * MS } }],
    });
    const comparison = compareSides('SingleStream', inProcess, network);
    const band = 'one pair of runs: no band';
    expect(comparison.efficiency).toMatchObject({ value: 0.8, band });
    expect(efficiencyTable(comparison)).toMatch(/p90 of the latency +8 ms +10 ms +80 %/);
  });

  it('warns of runs that are INVALID', () => {
    const inProcess = sideOf('in-process', {
      runs: [runOf({}), { ...runOf({}), isValid: false, whyInvalid: 'It was too short.' }],
    });
    const network = sideOf('network', { runs: [runOf({})] });
    const { warnings } = compareSides('Offline', inProcess, network);
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
