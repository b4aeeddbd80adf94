import { expect, it } from 'vitest';
import {
  BACKLOG_GREW,
  type PeakProbe,
} from '../../../../../loadgen-node/search/peak/peak-search.ts';
import {
  explanationOf,
  tellingProbe,
} from '../../../../../loadgen-node/search/peak/telling-probe.ts';
import { keptProbe, searchOf } from '../../../../scenes/simulated-run/steady-probe.ts';

// Goal: the limit is explained by a probe that shows it, and by the times that its bound is about.
// Method: probes made by hand, the wrong ones later and nearer than the right one.

const SEARCH = searchOf(10e6);
const LATE = 50;

function probe(
  number: number,
  load: number,
  other: Partial<PeakProbe>,
  overQueries = 0,
): PeakProbe {
  const kept = keptProbe(number, load);
  const bounds = kept.bounds.map((bound) => ({ ...bound, overQueries }));
  return { ...kept, explanation: `that of probe ${number}`, bounds, ...other };
}

const KEPT = probe(1, 100, {});
const SHORT = probe(9, 101, {
  ...{ kind: 'full', verdict: 'misses' },
  why: 'INVALID: Too few queries for early stopping.',
});

it.each<[string, PeakProbe[], number]>([
  ['late queries', [KEPT, probe(2, 120, { verdict: 'misses' }, LATE), SHORT], 2],
  ['a queue that grew', [KEPT, probe(2, 120, { verdict: 'misses', why: BACKLOG_GREW }), SHORT], 2],
  ['a full run whose queue grew', [KEPT, probe(2, 105, { verdict: 'misses', growth: 0.1 })], 2],
  [
    'the nearest of several',
    [KEPT, probe(2, 120, { verdict: 'misses' }, LATE), probe(3, 400, { verdict: 'misses' }, LATE)],
    2,
  ],
  ['the peak itself, where no probe above it shows anything', [KEPT, SHORT], 1],
  [
    'no probe that LoadGen was too slow for',
    [KEPT, probe(2, 110, { verdict: 'generator-bound' }, LATE)],
    1,
  ],
])('explains the limit by %s', (_case, probes, number) => {
  expect(tellingProbe(SEARCH, probes, ['latency'])?.number).toBe(number);
});

/** Queries above the bounds on the first token and on each one after it. */
function tokenProbe(number: number, load: number, ttft: number, tpot: number): PeakProbe {
  const [bound] = keptProbe(number, load).bounds as [PeakProbe['bounds'][number]];
  const bounds = [
    { ...bound, name: 'ttft' as const, overQueries: ttft, explanation: 'The queue.' },
    { ...bound, name: 'tpot' as const, overQueries: tpot, explanation: 'Each token.' },
  ];
  const explanation = 'The queue. Each token.';
  return { ...keptProbe(number, load), verdict: 'misses', bounds, explanation };
}

it('explains it by the bound that limits, of two', () => {
  const search = { ...SEARCH, tpotNs: 5e6 };
  const probes = [KEPT, tokenProbe(2, 110, LATE, 0), tokenProbe(3, 120, LATE, LATE)];
  expect(tellingProbe(search, probes, ['ttft'])?.number).toBe(2);
  const telling = tellingProbe(search, probes, ['tpot']) as PeakProbe;
  expect(telling.number).toBe(3);
  expect(explanationOf(telling, ['tpot'])).toBe('Each token.');
  expect(explanationOf(telling, ['ttft', 'tpot'])).toBe('The queue. Each token.');
  expect(explanationOf(SHORT, ['latency'])).toBe('that of probe 9');
});
