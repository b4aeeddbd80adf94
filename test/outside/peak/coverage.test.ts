import { afterAll, expect, it } from 'vitest';
import { findPeak } from '../../../loadgen-node/search/peak/find-peak.ts';
import type { LoadSearch } from '../../../loadgen-node/search/peak/peak-search.ts';
import { queueProbes, type ServiceLaw, theoreticalPeak } from '../../scenes/simulated-run/queue.ts';

// Goal: what a search says of its own certainty is true: the limit lies in the interval about as
// often as stated. Method: many simulated searches (PEAK_SEARCHES, 200) of queues with a known
// limit; prints the figures that docs/find-peak.md sums up.

const SEARCHES = Number(process.env['PEAK_SEARCHES'] ?? 200);
const CONFIDENCE = 0.95;

interface Case {
  readonly law: ServiceLaw;
  readonly serviceMs: number;
  readonly boundMs: number;
  readonly precision: number;
  readonly screeningS: number;
  /** Whether a full run of 600 s is long enough for the value to be within 3 %. */
  readonly isLongEnough: boolean;
}

const CASES: readonly Case[] = [
  {
    ...{ law: 'M/M/1', serviceMs: 1, boundMs: 20 },
    ...{ precision: 0.01, screeningS: 300, isLongEnough: true },
  },
  {
    ...{ law: 'M/D/1', serviceMs: 1, boundMs: 10 },
    ...{ precision: 0.01, screeningS: 300, isLongEnough: true },
  },
  {
    ...{ law: 'M/M/1', serviceMs: 1, boundMs: 300 },
    ...{ precision: 0.01, screeningS: 300, isLongEnough: true },
  },
  {
    ...{ law: 'M/M/1', serviceMs: 5, boundMs: 50 },
    ...{ precision: 0.02, screeningS: 600, isLongEnough: false },
  },
  {
    ...{ law: 'M/D/1', serviceMs: 5, boundMs: 15 },
    ...{ precision: 0.02, screeningS: 600, isLongEnough: false },
  },
];

const rows: string[] = [];

afterAll(() => {
  const head =
    'queue, bound: limit; value within 3 %; value: mean error, deviation; estimate: likewise; interval right; its half width';
  process.stdout.write(
    `${SEARCHES} searches each, ${CONFIDENCE} sure\n${head}\n${rows.join('\n')}\n`,
  );
});

it.each(CASES)('knows how sure it is: $law, $serviceMs ms, bound $boundMs ms', async (one) => {
  const { law, serviceMs, boundMs, precision, screeningS, isLongEnough } = one;
  const limit = theoreticalPeak(law, serviceMs / 1e3, boundMs / 1e3, 0.01);
  const values: number[] = [];
  const estimates: number[] = [];
  const widths: number[] = [];
  let covered = 0;
  for (let seed = 1; seed <= SEARCHES; seed += 1) {
    const search: LoadSearch = {
      ...{ kind: 'rate', boundNs: boundMs * 1e6, percentile: 0.99, startLoad: undefined },
      ...{ loadMax: 1e6, precision, confidence: CONFIDENCE, screeningNsMax: screeningS * 1e9 },
      full: {
        ...{ runs: 1, minDurationNs: 600e9, minQueryCount: 662 },
        ...{ hasEarlyStopping: true, loadsMax: 8 },
      },
    };
    const runProbe = queueProbes({ law, serviceNs: serviceMs * 1e6, seed }, search);
    const { value, estimate, interval } = await findPeak(search, runProbe);
    values.push((value ?? 0) / limit - 1);
    estimates.push((estimate ?? 0) / limit - 1);
    const { low, high } = interval ?? { low: 0, high: 0 };
    widths.push((high - low) / 2 / limit);
    if (low <= limit && limit <= high) covered += 1;
  }
  const within = values.filter((error) => Math.abs(error) <= 0.03).length;
  rows.push(
    `${law} ${serviceMs} ms, ${boundMs} ms: ${limit.toFixed(1)}/s; ${within} of ${SEARCHES}; ${spread(values)}; ` +
      `${spread(estimates)}; ${covered} of ${SEARCHES}; ${percent(mean(widths))}`,
  );
  // Three deviations below what is stated.
  const least = CONFIDENCE - 3 * Math.sqrt((CONFIDENCE * (1 - CONFIDENCE)) / SEARCHES);
  expect(covered / SEARCHES).toBeGreaterThan(least);
  if (isLongEnough) expect(within / SEARCHES).toBeGreaterThan(0.97);
});

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function spread(values: readonly number[]): string {
  const middle = mean(values);
  const deviation = Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
  return `${percent(middle)}, ${percent(deviation)}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
