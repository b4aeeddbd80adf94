import { describe, expect, it } from 'vitest';
import {
  type FeedConnection,
  livePanels,
  liveTitle,
} from '../../../../../loadgen-node/present/live/live-page.ts';
import { LiveState, type RunVerdict } from '../../../../../loadgen-node/present/live/live-state.ts';
import { liveSecond } from '../../../../scenes/simulated-run/summary.ts';

// Goal: the live page says how it stands, in texts that nothing that a run or a node is called can
// turn into markup. Method: its panels, made in Node. test/outside/browser looks at the page in a
// browser.

const HOSTILE = '<img src=x onerror=alert(1)>';
const FACTS = { title: 't', benchmark: 'delay', scenario: 'Server', mode: 'm', output: HOSTILE };
const VERDICT: RunVerdict = {
  state: 'INVALID',
  cause: null,
  reasons: [HOSTILE],
  figures: [{ label: HOSTILE, value: '28 ms' }],
};

function stateWith(seconds: number, verdict?: RunVerdict): LiveState {
  const state = new LiveState();
  state.apply({ kind: 'begin', facts: FACTS });
  state.apply({ kind: 'nodes', names: ['sut-a', HOSTILE] });
  for (let second = 1; second <= seconds; second += 1) {
    state.apply({ kind: 'snapshot', snapshot: liveSecond(second) });
  }
  if (verdict !== undefined) state.apply({ kind: 'end', verdict });
  return state;
}

const textOf = (id: string, state: LiveState, connection: FeedConnection = 'open'): string =>
  (livePanels(state, connection)[id]?.text ?? '').replaceAll(/<[^>]*>/g, ' ').trim();

describe('livePanels', () => {
  it.each([
    [new LiveState(), 'connecting', 'connecting'],
    [new LiveState(), 'open', 'waiting for a run'],
    [stateWith(1), 'open', 'running'],
    [stateWith(1), 'lost', 'no connection, trying again'],
    [stateWith(1), 'over', 'the command ended'],
    [stateWith(1, VERDICT), 'open', 'run ended: INVALID'],
    [stateWith(1, VERDICT), 'over', 'run ended: INVALID'],
  ] as const)('%#: %s says %s', (state, connection, text) => {
    expect(textOf('state', state, connection)).toBe(text);
  });

  it('takes what runs and nodes are called as text', () => {
    const state = stateWith(30, VERDICT);
    const page = Object.values(livePanels(state, 'open')).map((panel) => panel?.text ?? '');
    expect(page.join('')).not.toContain('<img');
    expect(page.join('').split('&lt;img src=x').length - 1).toBe(4);
    expect(liveTitle(state)).toBe('INVALID: delay Server - longhaul');
  });

  it('says how far the run is, and shows the newest second first', () => {
    const state = stateWith(30);
    expect(textOf('progress', state)).toBe(
      'performance run: 0:30, 5 %, about 9:30 left (an estimate)',
    );
    expect(textOf('seconds', state)).toMatch(/lost\s+0:30 /);
    expect(textOf('progress', stateWith(30, VERDICT))).toBe('performance run: 0:30');
  });

  it('says how the run stands against its bound, and which nodes are connected', () => {
    const state = new LiveState();
    state.apply({ kind: 'begin', facts: FACTS });
    state.apply({ kind: 'nodes', names: ['sut-a', 'sut-b'] });
    const second = liveSecond(1);
    state.apply({ kind: 'snapshot', snapshot: { ...second, overShare: 0.004 } });
    expect(textOf('so-far', state)).toMatch(
      /^Good so far *: 0.4 % of the queries are above 15 ms, p99 allows 1 %; no sample lost; dispatch lag p99 70 µs, at most 1.5 ms allowed$/,
    );
    expect(textOf('nodes', state)).toContain('connected');
    const overall = { count: 100, p50Ns: 1e6, p90Ns: 9e6, p99Ns: 20e6, p999Ns: 3e7, maxNs: 3e7 };
    const tailAt = (percentile: number): string => {
      const bound = { latencyNs: 15e6, percentile };
      state.apply({ kind: 'snapshot', snapshot: { ...second, overall, bound } });
      return /<div[^>]*><dt>p[\d.]+ so far.*?<\/div>/.exec(
        livePanels(state, 'open')['now']?.text ?? '',
      )?.[0] as string;
    };
    expect(tailAt(0.9)).toBe(
      '<div><dt>p90 so far</dt><dd>9 ms<small>bound 15 ms</small></dd></div>',
    );
    expect(tailAt(0.97)).toContain('<div><dt>p99 so far</dt><dd>20 ms<small>bound 15 ms at p97');
    expect(tailAt(0.99)).toContain('<div class="bad"><dt>p99 so far');
    const late = { ...second, overShare: 0.3, nodes: { ...second.nodes, lost: [1] } };
    state.apply({ kind: 'snapshot', snapshot: late });
    expect(textOf('so-far', state)).toMatch(/^INVALID so far *: 30 % of the queries/);
    expect(livePanels(state, 'open')['now']?.text).toContain(
      '<div class="bad"><dt>Above the bound</dt><dd>30 %',
    );
    expect(textOf('nodes', state)).toMatch(/connected.*lost/s);
    expect(textOf('so-far', stateWith(1, VERDICT))).toBe('');
  });

  it.each([
    ['none above it', 0.99, { p50Ns: 9e6, p99Ns: 15e6 }, []],
    ['p99 above it', 0.99, { p50Ns: 9e6, p99Ns: 16e6 }, ['p99']],
    ['p50 above it, too', 0.99, { p50Ns: 16e6, p99Ns: 90e6 }, ['p50', 'p99']],
    ['p99 above a bound that holds at p90', 0.9, { p50Ns: 9e6, p99Ns: 90e6 }, []],
  ])(
    'marks the latencies of the last second that break the bound: %s',
    (_case, percentile, times, bad) => {
      const latency = { count: 100, p90Ns: 9e6, p999Ns: 9e7, maxNs: 9e7, ...times };
      const bound = { latencyNs: 15e6, percentile };
      const state = new LiveState();
      state.apply({ kind: 'begin', facts: FACTS });
      state.apply({ kind: 'snapshot', snapshot: { ...liveSecond(1), latency, bound } });
      const text = livePanels(state, 'open')['now']?.text ?? '';
      const marked = [...text.matchAll(/<div class="bad"><dt>Latency (p\d+)/g)].map(
        ([, one]) => one,
      );
      expect(marked).toEqual(bad);
    },
  );

  it.each([
    [
      { growth: 0.05 },
      /^INVALID so far *: the SUT does not keep up: 5 more queries wait each second/,
    ],
    [
      { lagSoFar: { p50Ns: 1e6, p99Ns: 54.8e6, maxNs: 90e6 } },
      /^INVALID so far *: LoadGen itself is too slow: dispatch lag p99 54.8 ms, at most 1.5 ms allowed/,
    ],
  ])('goes by the rules of the verdict: %o', (other, text) => {
    const state = new LiveState();
    state.apply({ kind: 'begin', facts: FACTS });
    state.apply({ kind: 'snapshot', snapshot: { ...liveSecond(1), overShare: 0.004, ...other } });
    expect(textOf('so-far', state)).toMatch(text);
  });

  it('calls no run good whose bounds are judged at its end', () => {
    const state = new LiveState();
    state.apply({ kind: 'begin', facts: FACTS });
    const snapshot = { ...liveSecond(1), bound: null, overShare: null, lagSoFar: null };
    state.apply({ kind: 'snapshot', snapshot });
    expect(textOf('so-far', state)).toMatch(/^So far *: no sample lost$/);
  });

  it('has nothing to show before a run', () => {
    const state = new LiveState();
    expect(textOf('now', state)).toContain('not yet measured');
    expect([textOf('verdict', state), textOf('progress', state), textOf('runs', state)]).toEqual([
      '',
      '',
      '',
    ]);
  });
});
