/**
 * Queues with Poisson arrivals and one server: what theory says of them, and searches for the peak
 * that run on them.
 */
import { findPeak } from '../../../loadgen-node/search/peak/find-peak.ts';
import { allowedShare } from '../../../loadgen-node/search/peak/full-runs.ts';
import { longEnough } from '../../../loadgen-node/search/peak/pace.ts';
import type { PeakResult } from '../../../loadgen-node/search/peak/peak-result.ts';
import type {
  LoadSearch,
  ProbeSpec,
  RunProbe,
} from '../../../loadgen-node/search/peak/peak-search.ts';

/** Service times of a queue: exponential, or all the same. */
export type ServiceLaw = 'M/M/1' | 'M/D/1';

/**
 * Share of the queries that stay longer than `bound` in the system. Rates per second, times in
 * seconds.
 */
export function shareAbove(
  law: ServiceLaw,
  arrivalRate: number,
  service: number,
  bound: number,
): number {
  if (arrivalRate * service >= 1) return 1;
  return law === 'M/M/1'
    ? Math.exp(-(1 / service - arrivalRate) * bound)
    : 1 - chanceToWaitAtMost(arrivalRate, service, bound - service);
}

/** Highest arrival rate at which no more than `share` of the queries stay longer than `bound`. */
export function theoreticalPeak(
  law: ServiceLaw,
  service: number,
  bound: number,
  share: number,
): number {
  let low = 0;
  let high = 1 / service;
  for (let i = 0; i < 100; i += 1) {
    const middle = (low + high) / 2;
    if (shareAbove(law, middle, service, bound) <= share) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * M/D/1: chance to wait at most `wait` before the service (Franx 2001, "A simple solution for the
 * M/D/c waiting time distribution"). Erlang's formula has terms of both signs, which cancel each
 * other's digits where the wait is many services long; here all are positive.
 */
function chanceToWaitAtMost(arrivalRate: number, service: number, wait: number): number {
  if (wait < 0) return 0;
  const k = Math.floor(wait / service) + 1;
  const waiting = cumulativeWaiting(arrivalRate * service, k);
  const rest = arrivalRate * (k * service - wait);
  let term = Math.exp(-rest);
  let sum = 0;
  for (let j = 0; j < k; j += 1) {
    sum += (waiting[k - 1 - j] as number) * term;
    term *= rest / (j + 1);
  }
  return sum;
}

/**
 * M/D/1: chance of at most n queries that wait, for n below `count`; by flows between levels, whose
 * terms are positive.
 */
function cumulativeWaiting(load: number, count: number): number[] {
  const poisson = [Math.exp(-load)];
  for (let n = 1; n <= count + 1; n += 1) {
    poisson.push(((poisson[n - 1] as number) * load) / n);
  }
  // Chance of more than n arrivals in a service, summed from its small end.
  const above = (n: number): number => {
    let term = poisson[n + 1] ?? 0;
    let sum = 0;
    for (let i = n + 2; term > 1e-18 * sum || i < n + 4; i += 1) {
      sum += term;
      term *= load / i;
    }
    return sum;
  };
  const tails = Array.from({ length: count + 1 }, (_, n) => above(n));
  const inSystem = [1 - load];
  for (let n = 0; n < count; n += 1) {
    let flow = (inSystem[0] as number) * (tails[n] as number);
    for (let i = 1; i <= n; i += 1) {
      flow += (inSystem[i] as number) * (tails[n + 1 - i] as number);
    }
    inSystem.push(flow / (poisson[0] as number));
  }
  const cumulative = [(inSystem[0] as number) + (inSystem[1] as number)];
  for (let n = 1; n < count; n += 1) {
    cumulative.push((cumulative[n - 1] as number) + (inSystem[n + 1] as number));
  }
  return cumulative;
}

/**
 * A queue that probes are run on, by Lindley's recursion: no engine, no clock, a million queries in
 * 50 ms.
 */
export interface SimulatedQueue {
  readonly law: ServiceLaw;
  readonly serviceNs: number;
  /**
   * Every probe has a stream of its own; full runs of one seed share theirs, as those of a round's
   * seeds do.
   */
  readonly seed: number;
}

/**
 * Probes on the queue. A full run is VALID where as few queries are late as early stopping lets.
 */
export function queueProbes(queue: SimulatedQueue, search: LoadSearch): RunProbe {
  return async (spec) => {
    const { latenciesNs, lastArrivalNs, endNs, isDecided } = runQueue(queue, search, spec);
    const over = latenciesNs.reduce((sum, ns) => sum + (ns > search.boundNs ? 1 : 0), 0);
    const count = latenciesNs.length;
    const isValid = over / count <= allowedShare(search, spec.load);
    const text = 'The latency bound was missed.';
    const missed = { rule: 'latency-bound', text, needed: '', seen: '', key: null };
    return {
      latenciesNs,
      end: {
        endCause: isDecided ? 'decided' : 'all-issued',
        counts: { lostSamples: 0, issuedSamples: count },
        ...{ durationNs: endNs, isGeneratorBound: false, generatorBoundReason: '' },
        faultText: null,
      },
      samplesPerSecond: (count / endNs) * 1e9,
      scheduledPerSecond: ((count - 1) / lastArrivalNs) * 1e9,
      lagP99Ns: 0,
      isValid,
      reasons: isValid ? [] : [missed],
      ...{ explanation: undefined, folder: undefined },
    };
  };
}

function runQueue({ law, serviceNs, seed }: SimulatedQueue, search: LoadSearch, spec: ProbeSpec) {
  const random = randomStream(seed * 1009 + (spec.kind === 'full' ? 0 : spec.number + 1));
  const gapNs = spec.kind === 'unloaded' ? 0 : 1e9 / spec.load;
  const arrivalsNs: number[] = [];
  const latenciesNs: number[] = [];
  const look = looksAt(arrivalsNs, latenciesNs, spec, search.boundNs);
  let arrivalNs = 0;
  let freeNs = 0;
  let isDecided = false;
  while (isPlanned(search, spec, arrivalsNs, arrivalNs)) {
    isDecided = look(arrivalNs);
    if (isDecided) break;
    const timeNs = law === 'M/M/1' ? -Math.log(1 - random()) * serviceNs : serviceNs;
    freeNs = Math.max(freeNs, arrivalNs) + timeNs;
    arrivalsNs.push(arrivalNs);
    latenciesNs.push(freeNs - arrivalNs);
    arrivalNs = gapNs === 0 ? freeNs : arrivalNs - Math.log(1 - random()) * gapNs;
  }
  const lastArrivalNs = arrivalsNs.at(-1) ?? 0;
  return { latenciesNs: Float64Array.from(latenciesNs), lastArrivalNs, endNs: freeNs, isDecided };
}

/**
 * Whether a query that arrives now is in the plan. A full run has queries up to the first one
 * behind its duration, and its least count (LoadGen's rule).
 */
function isPlanned(
  { full: { minDurationNs, minQueryCount } }: LoadSearch,
  {
    kind,
    queriesMax = Number.POSITIVE_INFINITY,
    durationNsMax = Number.POSITIVE_INFINITY,
  }: ProbeSpec,
  arrivalsNs: readonly number[],
  nowNs: number,
): boolean {
  const count = arrivalsNs.length;
  return kind === 'full'
    ? count < minQueryCount || (arrivalsNs.at(-1) ?? 0) < minDurationNs
    : count < queriesMax && nowNs <= durationNsMax;
}

/**
 * Looks at the queue every 100 ms of its time, as the engine does. @returns Whether the probe is
 * decided at that time.
 */
function looksAt(
  arrivalsNs: readonly number[],
  latenciesNs: readonly number[],
  { isDecided }: ProbeSpec,
  boundNs: number,
): (nowNs: number) => boolean {
  const lookNs = 1e8;
  let nextNs = lookNs;
  let head = 0;
  let over = 0;
  return (nowNs) => {
    if (isDecided === undefined || nowNs < nextNs) return false;
    nextNs = nowNs + lookNs;
    const latencyOf = (query: number): number => latenciesNs[query] as number;
    const arrivalOf = (query: number): number => arrivalsNs[query] as number;
    for (; head < arrivalsNs.length && arrivalOf(head) + latencyOf(head) <= nowNs; head += 1) {
      if (latencyOf(head) > boundNs) over += 1;
    }
    const overdue = arrivalsNs.slice(head).filter((atNs) => nowNs - atNs > boundNs).length;
    return isDecided({
      elapsedNs: nowNs,
      issuedQueries: arrivalsNs.length,
      waitingQueries: arrivalsNs.length - head,
      bounds: [{ known: head + overdue, over: over + overdue }],
    });
  };
}

/** Uniform numbers in [0, 1) (sfc32). */
export function randomStream(seed: number): () => number {
  let a = seed | 0;
  let b = (seed ^ 0x9e3779b9) | 0;
  let c = 0x243f6a88;
  let counter = 1;
  const next = (): number => {
    const t = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return (t >>> 0) / 4294967296;
  };
  for (let i = 0; i < 16; i += 1) next();
  return next;
}

/**
 * The queue of `--delay-model fixed:20ms --delay-concurrency 1`, and the load that it cannot
 * complete more of.
 */
export const DELAY_QUEUE = { law: 'M/D/1', serviceNs: 20e6 } as const;
export const CAPACITY = 50;

/** Hasty settings, the defaults, and two that take longer: 600 s is what a submission needs. */
export const ASKED = [
  { name: 'hasty', minDurationS: 5, searchTimeS: 60, precision: 0.1, confirmLoads: 1 },
  { name: 'default', minDurationS: 10, searchTimeS: 120, precision: 0.02, confirmLoads: 8 },
  { name: 'a minute', minDurationS: 60, searchTimeS: 120, precision: 0.02, confirmLoads: 8 },
  { name: 'official', minDurationS: 600, searchTimeS: 600, precision: 0.02, confirmLoads: 8 },
] as const;

/** A search as a user asks for it. */
export type AskedSearch = (typeof ASKED)[number];

/**
 * Settings of a search under a bound in s, p99; longer than asked for where the bound needs that.
 */
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
  return await findPeak(search, queueProbes({ ...DELAY_QUEUE, seed }, search));
}
