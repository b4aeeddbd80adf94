import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPeak } from '../../../loadgen-node/search/peak/find-peak.ts';
import type { LoadSearch } from '../../../loadgen-node/search/peak/peak-search.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { randomStream } from '../../scenes/simulated-run/queue.ts';
import {
  highestRate,
  limitOfTokens,
  shareWaiting,
  type TokenQueue,
  tokenProbes,
} from '../../scenes/simulated-run/token-queue.ts';

// Goal: a search under bounds on TTFT and TPOT comes to the lower of the two limits, of simulated
// queues and of delay nodes. Method: TTFT limits in M/M/4, by Erlang's C; TPOT limits where
// sequences slow one another down, by ten long runs of that model. Prints the figures of
// docs/find-peak.md. JOINT_SEARCHES (50) simulated searches of each; one of each over gRPC
// (PEAK_SEARCH_TIME, PEAK_MIN_DURATION).

const SEARCHES = Number(process.env['JOINT_SEARCHES'] ?? 50);
const SEARCH_TIME = process.env['PEAK_SEARCH_TIME'] ?? '120s';
const MIN_DURATION = process.env['PEAK_MIN_DURATION'] ?? '120s';

interface Case {
  readonly limitedBy: 'ttft' | 'tpot';
  readonly queue: TokenQueue;
  readonly ttftMs: number;
  readonly tpotMs: number;
  readonly percentile: number;
  /** A search of long answers takes an hour: simulated alone. */
  readonly isLong?: boolean;
}

const CASES: readonly Case[] = [
  {
    ...{ limitedBy: 'ttft', ttftMs: 150, tpotMs: 4, percentile: 0.9 },
    queue: {
      ...{ sequences: 4, firstTokenNs: 1e6, tokenNs: 1e6, perSequenceNs: 0 },
      ...{ length: { law: 'geometric', mean: 100 }, seed: 1 },
    },
  },
  {
    ...{ limitedBy: 'tpot', ttftMs: 150, tpotMs: 6, percentile: 0.9 },
    queue: {
      ...{ sequences: 100_000, firstTokenNs: 5e6, tokenNs: 2e6, perSequenceNs: 2e5 },
      ...{ length: { law: 'fixed', mean: 100 }, seed: 1 },
    },
  },
  {
    // Answers of 6 s without load and 12 s at the bound: 27 times the bound on the first token.
    ...{ limitedBy: 'tpot', ttftMs: 450, tpotMs: 40, percentile: 0.99, isLong: true },
    queue: {
      ...{ sequences: 100_000, firstTokenNs: 50e6, tokenNs: 20e6, perSequenceNs: 1e5 },
      ...{ length: { law: 'geometric', mean: 300 }, seed: 1 },
    },
  },
];

function searchOf({ ttftMs, tpotMs, percentile }: Case): LoadSearch {
  return {
    ...{ kind: 'rate', boundNs: ttftMs * 1e6, tpotNs: tpotMs * 1e6, percentile },
    ...{ startLoad: undefined, loadMax: 1e5, precision: 0.02, confidence: 0.95 },
    screeningNsMax: 300e9,
    full: {
      ...{ runs: 1, minDurationNs: 600e9, minQueryCount: 662 },
      ...{ hasEarlyStopping: true, loadsMax: 8 },
    },
  };
}

async function limitOf(one: Case): Promise<number> {
  const { queue, limitedBy, ttftMs, isLong = false } = one;
  if (limitedBy === 'tpot') {
    return await limitOfTokens(queue, searchOf(one), 50, isLong ? 20_000e9 : 2000e9);
  }
  const service = (queue.firstTokenNs + queue.length.mean * queue.tokenNs) / 1e9;
  const wait = ttftMs / 1e3 - queue.firstTokenNs / 1e9;
  const servers = { servers: queue.sequences, service };
  return highestRate((rate) => shareWaiting(rate, servers, wait), 100, 0.1);
}

/** At once: a search takes minutes. */
function tell(row: string): void {
  process.stdout.write(`${row}\n`);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

describe.each(CASES)('limited by $limitedBy, bounds of $ttftMs and $tpotMs ms', (one) => {
  it('finds the limit of a simulated model', async () => {
    const search = searchOf(one);
    const limit = await limitOf(one);
    const errors: number[] = [];
    let covered = 0;
    let named = 0;
    for (let seed = 1; seed <= SEARCHES; seed += 1) {
      const found = await findPeak(search, tokenProbes({ ...one.queue, seed }, search));
      errors.push((found.value ?? 0) / limit - 1);
      const { low, high } = found.interval ?? { low: 0, high: 0 };
      if (low <= limit && limit <= high) covered += 1;
      if (found.limitedBy.join() === one.limitedBy) named += 1;
    }
    const mean = errors.reduce((sum, error) => sum + error, 0) / SEARCHES;
    const worst = Math.max(...errors.map(Math.abs));
    tell(
      `${one.limitedBy} simulated, TTFT ${one.ttftMs} ms: limit ${limit.toFixed(2)}/s; value ${percent(mean)} in the mean, ${percent(worst)} off at most; ` +
        `limit in the interval ${covered} of ${SEARCHES}; bound named ${named} of ${SEARCHES}`,
    );
    expect(Math.abs(mean)).toBeLessThan(0.03);
    // Three deviations below what is stated.
    const least = 0.95 - 3 * Math.sqrt((0.95 * 0.05) / SEARCHES);
    expect(covered / SEARCHES).toBeGreaterThan(least);
    expect(named).toBe(SEARCHES);
  });

  it.skipIf(one.isLong)('finds the limit of a delay node', async () => {
    const { queue, limitedBy, ttftMs, tpotMs, percentile } = one;
    const list = join(tempFolder(), 'tokens.txt');
    writeFileSync(list, lengthsOf(queue).join('\n'));
    const ms = (ns: number): string => `${ns / 1e3}us`;
    const node = await SutNodeProcess.start('sut-a', [
      ...['--benchmark', 'delay', '--delay-tokens', `list:${list}`],
      ...['--delay-first-token', ms(queue.firstTokenNs), '--delay-token', ms(queue.tokenNs)],
      ...['--delay-token-per-sequence', ms(queue.perSequenceNs)],
      ...['--delay-concurrency', String(Math.min(queue.sequences, 65_536))],
    ]);
    try {
      const limit = await limitOf(one);
      const { stdout, stderr } = await longhaul([
        ...['find-peak', '--sut', node.address, '--benchmark', 'delay', '--sample-bytes', '16'],
        ...['--ttft', `${ttftMs}ms`, '--tpot', `${tpotMs}ms`, '--json'],
        ...['--percentile', String(percentile * 100)],
        ...['--search-time', SEARCH_TIME, '--min-duration', MIN_DURATION],
        ...['--output', tempFolder()],
      ]);
      if (!stdout.startsWith('{')) throw new Error(stderr);
      const found = JSON.parse(stdout) as {
        readonly value: number | null;
        readonly estimate: number | null;
        readonly interval: { readonly low: number; readonly high: number | null } | null;
        readonly limit: string;
        readonly limitText: string;
        readonly limitedBy: readonly string[];
        readonly tokensPerSecond: number | null;
      };
      tell(
        `${limitedBy} over gRPC: limit ${limit.toFixed(2)}/s; found ${found.value?.toFixed(2)}/s (${percent((found.value ?? 0) / limit - 1)}), ` +
          `${found.tokensPerSecond?.toFixed(0)} tokens/s; most likely ${found.estimate?.toFixed(2)}, ` +
          `${found.interval?.low.toFixed(2)} to ${found.interval?.high?.toFixed(2)}; by ${found.limitedBy.join(' and ')}; ${found.limit}`,
      );
      // On a machine that others use LoadGen may be the limit.
      if (found.limit !== 'sut') expect(found.limitText).not.toBe('');
      else {
        expect(found.limitedBy).toContain(limitedBy);
        expect(Math.abs((found.value ?? 0) / limit - 1)).toBeLessThan(0.1);
      }
    } finally {
      await node.stop();
    }
  });
});

/**
 * Output tokens of 5,000 samples, the first token included: the law's quantiles in a random order,
 * so that their mean is the law's.
 */
function lengthsOf({ length: { law, mean } }: TokenQueue): number[] {
  if (law === 'fixed') return [mean + 1];
  const random = randomStream(11);
  const count = 5000;
  return Array.from({ length: count }, (_, i) => {
    const quantile = Math.log(1 - (i + 0.5) / count) / Math.log(1 - 1 / mean);
    return { place: random(), tokens: 1 + Math.ceil(quantile) };
  })
    .sort((a, b) => a.place - b.place)
    .map(({ tokens }) => tokens);
}
