import { describe, expect, it } from 'vitest';
import { findPeak } from '../../../../../loadgen-node/search/peak/find-peak.ts';
import { answersNote, longEnough } from '../../../../../loadgen-node/search/peak/pace.ts';
import type { LoadSearch, PeakProbe } from '../../../../../loadgen-node/search/peak/peak-search.ts';
import {
  peakText,
  probeHeader,
  probeLine,
  searchText,
} from '../../../../../loadgen-node/search/peak/print-peak.ts';
import {
  highestRate,
  limitOfTokens,
  meanTokenTime,
  shareWaiting,
  type TokenQueue,
  tokenProbes,
} from '../../../../scenes/simulated-run/token-queue.ts';

// Goal: under two bounds, each at its percentile, the search finds the lower of two limits, and
// says whose it is. Method: token models by event simulation, seeded; the limit of TTFT by Erlang's
// C, that of TPOT by one long run of the same model.

const SEQUENCES = 4;
/** Service of 100 ms on average, nearly exponential: the wait is that of M/M/4. */
const QUEUED: TokenQueue = {
  ...{ sequences: SEQUENCES, firstTokenNs: 0, tokenNs: 1e6, perSequenceNs: 0 },
  ...{ length: { law: 'geometric', mean: 100 }, seed: 1 },
};
/** Steps of 2 ms and 0.2 ms for each sequence beside one another; never a queue. */
const SHARED: TokenQueue = {
  ...{ sequences: 100_000, firstTokenNs: 5e6, tokenNs: 2e6, perSequenceNs: 2e5 },
  ...{ length: { law: 'fixed', mean: 100 }, seed: 1 },
};

/** Steps of 20 ms and 0.1 ms for each sequence beside one another. */
const LONG: TokenQueue = {
  ...{ sequences: 100_000, firstTokenNs: 50e6, tokenNs: 20e6, perSequenceNs: 1e5 },
  ...{ length: { law: 'geometric', mean: 300 }, seed: 1 },
};
const FIXED: TokenQueue = { ...LONG, length: { law: 'fixed', mean: 300 } };
/** At which 1 % are above 40 ms, by two runs of 12,000 s each. */
const LIMITS = new Map([
  [LONG, 14.88],
  [FIXED, 14.93],
]);

function searchOf(ttftMs: number, tpotMs: number, percentile = 0.9): LoadSearch {
  return {
    ...{ kind: 'rate', boundNs: ttftMs * 1e6, tpotNs: tpotMs * 1e6, percentile },
    ...{ startLoad: undefined, loadMax: 1e5, precision: 0.02, confidence: 0.95 },
    screeningNsMax: 200e9,
    full: {
      ...{ runs: 1, minDurationNs: 300e9, minQueryCount: 662 },
      ...{ hasEarlyStopping: true, loadsMax: 8 },
    },
  };
}

const PATIENCE = { timeout: 60_000 };

describe('findPeak under bounds on tokens', PATIENCE, () => {
  it('finds the limit of the first token where the queue sets it', async () => {
    const search = searchOf(150, 2);
    const server = { servers: SEQUENCES, service: 0.1 };
    const limit = highestRate((rate) => shareWaiting(rate, server, 0.15), 40, 0.1);
    for (const seed of [1, 2, 3]) {
      const result = await findPeak(search, tokenProbes({ ...QUEUED, seed }, search));
      expect(result).toMatchObject({ ending: 'found', limit: 'sut', limitedBy: ['ttft'] });
      expect(Math.abs((result.value ?? 0) / limit - 1), `seed ${seed}`).toBeLessThan(0.06);
      expect(result.interval?.low).toBeLessThan(limit);
      expect(result.interval?.high).toBeGreaterThan(limit);
    }
  });

  it('finds the limit of the time per token where sequences slow one another down', async () => {
    const search = searchOf(150, 6);
    const limit = await limitOfTokens(SHARED, search, 50);
    for (const seed of [1, 2, 3]) {
      const result = await findPeak(search, tokenProbes({ ...SHARED, seed }, search));
      expect(result).toMatchObject({ ending: 'found', limit: 'sut', limitedBy: ['tpot'] });
      expect(Math.abs((result.value ?? 0) / limit - 1), `seed ${seed}`).toBeLessThan(0.06);
      expect(result.limitText).toMatch(
        /^TPOT limits: above it more than 10 % of the queries are above TPOT 6 ms\. TTFT is 5 ms at the peak, of 150 ms\./,
      );
    }
  });

  // Answers of 6 s alone and 12 s at the bound, 27 times the bound on the first token: a run of 50
  // bounds ends before as many run at once as its load makes, and passes at loads a quarter above
  // the limit.
  it.each([
    ['lengths as asked for by default', LONG, 10, 120],
    ['fixed lengths, full runs of a minute', FIXED, 60, 120],
  ])('lasts as long as its answers need: %s', async (_case, queue, minS, searchS) => {
    const base = searchOf(450, 40, 0.99);
    const full = { ...base.full, minDurationNs: minS * 1e9 };
    const search = longEnough({ ...base, screeningNsMax: searchS * 1e9, full });
    const limit = LIMITS.get(queue) ?? Number.NaN;
    let covered = 0;
    const halfWidths: number[] = [];
    for (const seed of [1, 2, 3, 4]) {
      const { value, interval, limitedBy } = await findPeak(
        search,
        tokenProbes({ ...queue, seed }, search),
      );
      expect(limitedBy).toEqual(['tpot']);
      expect(Math.abs((value ?? 0) / limit - 1), `seed ${seed}`).toBeLessThan(0.08);
      const { low, high } = interval ?? { low: 0, high: Number.POSITIVE_INFINITY };
      halfWidths.push((high - low) / 2 / limit);
      if (low <= limit && limit <= high) covered += 1;
    }
    expect(covered).toBeGreaterThanOrEqual(3);
    // One of them may have had too few late queries near the limit.
    expect(halfWidths.sort((a, b) => a - b)[1]).toBeLessThan(0.25);
  });

  it('says after the first look how long answers make it', async () => {
    const base = searchOf(450, 40, 0.99);
    const full = { ...base.full, minDurationNs: 60e9 };
    const search = { ...base, screeningNsMax: 120e9, full };
    const { probes } = await findPeak(search, tokenProbes(FIXED, search));
    const unloaded = probes[0] as PeakProbe;
    expect(answersNote(search, unloaded)).toBe(
      'an answer takes about 6.03 s without load and 12 s at TPOT 40 ms: only after several of them do as many run at once as a load makes. ' +
        'So screenings may take 1440 s together, and a full run 360 s, 1800 s in all, less where answers stay faster',
    );
    expect(answersNote({ ...search, full: { ...full, durationNsMax: 90e9 } }, unloaded)).toContain(
      'and a full run 90 s,',
    );
    const fulls = probes.filter(({ kind }) => kind === 'full');
    for (const { durationNs } of fulls) expect(durationNs).toBeGreaterThan(330e9);
    const long = { ...search, screeningNsMax: 1500e9, full: { ...full, minDurationNs: 400e9 } };
    expect(answersNote(long, unloaded)).toBeUndefined();
    // No load keeps the bound: nothing follows the first look.
    const ended = { ...unloaded, verdict: 'misses' } as const;
    expect(answersNote(search, ended)).toBeUndefined();
  });

  it('simulates what theory says of sequences beside one another', async () => {
    const search = searchOf(150, 6);
    const spec = { kind: 'screening', number: 1, durationNsMax: 4000e9 } as const;
    for (const load of [10, 25, 35]) {
      const { tokens } = await tokenProbes(SHARED, search)({ ...spec, load });
      const times = tokens?.perOutputNs ?? new Float64Array();
      const mean = times.reduce((sum, ns) => sum + ns, 0) / times.length;
      expect(Math.abs(mean / meanTokenTime(SHARED, load) - 1)).toBeLessThan(0.02);
    }
  });

  it('holds a load to each bound alone, not to both of each query', async () => {
    // Either limit alone is at about the same load.
    const both = { ...SHARED, sequences: 12 };
    const search = searchOf(60, 4.2);
    const { limitedBy, value, goodput, probes } = await findPeak(search, tokenProbes(both, search));
    const peak = probes.find(({ kind, verdict }) => kind === 'full' && verdict === 'keeps');
    expect(limitedBy.length).toBeGreaterThan(0);
    expect(value).not.toBeNull();
    for (const { overQueries } of peak?.bounds ?? []) {
      expect(overQueries / (peak?.queries ?? 1)).toBeLessThanOrEqual(0.1);
    }
    expect(goodput?.share).toBeGreaterThanOrEqual(0.8);
    expect(goodput?.tokensPerSecond).toBeGreaterThan(0);
  });

  it('says which bound a single query misses', async () => {
    const search = searchOf(150, 2);
    const { ending, limit, limitedBy, limitText } = await findPeak(
      search,
      tokenProbes(SHARED, search),
    );
    expect({ ending, limit, limitedBy }).toEqual({
      ...{ ending: 'none', limit: 'unloaded-latency', limitedBy: ['tpot'] },
    });
    expect(limitText).toContain('The bound of TPOT 2 ms is missed even by one query at a time');
    expect(limitText).toContain('TPOT 2.2 ms at percentile 90');
  });

  it('prints both bounds, tokens per second and goodput', async () => {
    const search = searchOf(150, 6);
    const result = await findPeak(search, tokenProbes(SHARED, search));
    expect(searchText(search, 'peak')).toContain(
      'Searching the most queries per second with TTFT 150 ms and TPOT 6 ms at percentile 90 each, confirmed',
    );
    expect(probeHeader(search)).toBe(
      '  # probe      queries/s  queries  TTFT p90     late  TPOT p90     late  tokens/s verdict: why',
    );
    const full = result.probes.at(-1);
    expect(full && probeLine(search, full)).toMatch(
      / full +[\d.]+ +\d+ +5 ms +0 % +[\d.]+ ms +[\d.]+ % +[\d,]+ /,
    );
    expect(peakText(search, result, 'out')).toMatch(
      /Peak +[\d.]+ queries\/s scheduled in a VALID run, [\d.]+ samples\/s and [\d,]+ tokens\/s completed/,
    );
    expect(peakText(search, result, 'out')).toMatch(
      /Goodput +[\d.]+ queries\/s and [\d,]+ tokens\/s of it within every bound/,
    );
  });
});
