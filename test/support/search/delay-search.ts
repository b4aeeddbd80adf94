import { findPeak, judgeProbe } from '../../../loadgen-node/search/peak/find-peak.ts';
import type { PeakResult } from '../../../loadgen-node/search/peak/peak-result.ts';
import type { LoadSearch } from '../../../loadgen-node/search/peak/peak-search.ts';
import { longEnough } from '../../../loadgen-node/search/peak/queue-growth.ts';
import { ScreeningWatch } from '../../../loadgen-node/search/peak/screening.ts';
import { queueProbes } from './queue-probe.ts';

/** Service time of `--delay-model fixed:20ms --delay-concurrency 1`, and the load that it cannot complete more of. */
export const SERVICE_NS = 20e6;
export const CAPACITY = 50;

/** A search as a user asks for it; the search makes it longer where the bound needs that. */
export interface AskedSearch {
  readonly name: string;
  readonly minDurationS: number;
  readonly searchTimeS: number;
  readonly precision: number;
  readonly confirmLoads: number;
}

/** Hasty settings, the defaults, and two that take longer: 600 s is what a submission needs. */
export const ASKED: readonly AskedSearch[] = [
  { name: 'hasty', minDurationS: 5, searchTimeS: 60, precision: 0.1, confirmLoads: 1 },
  { name: 'default', minDurationS: 10, searchTimeS: 120, precision: 0.02, confirmLoads: 8 },
  { name: 'a minute', minDurationS: 60, searchTimeS: 120, precision: 0.02, confirmLoads: 8 },
  { name: 'official', minDurationS: 600, searchTimeS: 600, precision: 0.02, confirmLoads: 8 },
];

/** Settings of a search under a bound in s, p99. */
export function delaySearch(asked: AskedSearch, boundS: number): LoadSearch {
  return longEnough({
    ...{ kind: 'rate', boundNs: boundS * 1e9, percentile: 0.99, startLoad: undefined },
    ...{ loadMax: 1e6, precision: asked.precision, confidence: 0.95 },
    screeningNsMax: asked.searchTimeS * 1e9,
    full: {
      ...{ runs: 1, minDurationNs: asked.minDurationS * 1e9, minQueryCount: 662 },
      ...{ hasEarlyStopping: true, loadsMax: asked.confirmLoads },
    },
  });
}

/** A simulated search of the delay SUT with Poisson arrivals. */
export async function searchDelay(search: LoadSearch, seed: number): Promise<PeakResult> {
  return await findPeak(search, queueProbes({ law: 'M/D/1', serviceNs: SERVICE_NS, seed }, search));
}

/** What can be had: the largest load, as scheduled, of a full run with the arrivals of this seed that confirms; by bisection. */
export async function mostConfirmed(search: LoadSearch, seed: number): Promise<number> {
  const runProbe = queueProbes({ law: 'M/D/1', serviceNs: SERVICE_NS, seed }, search);
  const planned = { kind: 'full', queriesMax: 0, durationNsMax: 0, confidence: 1 } as const;
  let most = 0;
  let low = 0;
  let high = CAPACITY * 1.3;
  for (let step = 0; step < 10; step += 1) {
    const load = (low + high) / 2;
    const watch = new ScreeningWatch(search, { confidence: 1, boundsMin: 0 });
    const outcome = await runProbe({ kind: 'full', load, number: 0 });
    const judged = { number: 0, planned: { ...planned, load, boundsMin: 0 }, watch };
    const { verdict, scheduledPerSecond } = judgeProbe(search, judged, outcome);
    if (verdict === 'keeps') {
      low = load;
      most = scheduledPerSecond ?? 0;
    } else high = load;
  }
  return most;
}
