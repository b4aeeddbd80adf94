import { percentage } from '../../../shared/base/text.ts';
import { LATENCY_PARTS, type LatencyPart } from '../../observe/split/latency-parts.ts';
import type { EfficiencySide, RunLatencies, SideRun, SideSearch } from './efficiency-sides.ts';

/** A value and the interval that holds it; both ends above 0. */
interface Banded {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Network over in process, 0 to 1 and above, with its band. */
export interface Efficiency extends Banded {
  /** What the two values are, for people: `peak, queries/s`. */
  readonly what: string;
  readonly inProcess: number;
  readonly network: number;
  /** How sure the band is, in words. */
  readonly band: string;
}

/** How much longer the same queries took over the network. */
export interface LatencyDifference {
  /** Server: load of both runs in queries per second; null elsewhere. */
  readonly load: number | null;
  readonly inProcess: RunLatencies;
  readonly network: RunLatencies;
  /** Network - in process, by percentile, in ns. */
  readonly difference: RunLatencies;
  /** Smallest and largest difference of p99 among the pairs of runs, in ns. */
  readonly p99Low: number;
  readonly p99High: number;
  readonly pairs: number;
}

/** A part of the latency on both sides, mean in ns. */
export interface PartDifference {
  readonly part: LatencyPart;
  readonly inProcessNs: number;
  readonly networkNs: number;
  readonly differenceNs: number;
}

/** Result of the comparison of two sides. */
export interface SideComparison {
  /** Null where a side has no value; `whyNot` says why. */
  readonly efficiency: Efficiency | null;
  readonly whyNot: string | null;
  readonly latency: LatencyDifference | null;
  /** Empty where a side knows no parts. */
  readonly parts: readonly PartDifference[];
  /** Runs that are INVALID, in words. */
  readonly warnings: readonly string[];
}

/** Scenarios whose result is a latency, and at which percentile: there the quotient is of latencies, turned round. */
const LATENCY_RESULTS: Readonly<
  Record<string, { readonly key: keyof RunLatencies; readonly text: string }>
> = {
  SingleStream: { key: 'p90Ns', text: 'p90' },
  MultiStream: { key: 'p99Ns', text: 'p99' },
};

/**
 * Compares what was measured in process with what was measured over the network.
 * @param scenario As in LoadGen's logs.
 */
export function compareSides(
  scenario: string,
  inProcess: EfficiencySide,
  network: EfficiencySide,
): SideComparison {
  const pairs = pairRuns(inProcess.runs, network.runs);
  const { efficiency, whyNot } = efficiencyOf(scenario, inProcess, network, pairs);
  return {
    efficiency,
    whyNot,
    latency: pairs.length === 0 || scenario === 'Offline' ? null : latencyDifference(pairs),
    parts: partDifferences(pairs),
    warnings: [...invalidRuns(inProcess), ...invalidRuns(network)],
  };
}

/** Two runs that were asked the same. */
interface RunPair {
  readonly inside: SideRun;
  readonly outside: SideRun;
}

/** The first run at a load with the first run at that load, and so on. */
function pairRuns(inside: readonly SideRun[], outside: readonly SideRun[]): RunPair[] {
  const left = [...inside];
  return outside.flatMap((run) => {
    const twin = left.findIndex(({ load }) => load === run.load);
    const [found] = twin < 0 ? [] : left.splice(twin, 1);
    return found === undefined ? [] : [{ inside: found, outside: run }];
  });
}

function efficiencyOf(
  scenario: string,
  inProcess: EfficiencySide,
  network: EfficiencySide,
  pairs: readonly RunPair[],
): Pick<SideComparison, 'efficiency' | 'whyNot'> {
  if (inProcess.search !== null && network.search !== null) {
    return ofSearches(inProcess.search, network.search);
  }
  if (pairs.length === 0) return { efficiency: null, whyNot: 'no run was made on both sides' };
  const result = LATENCY_RESULTS[scenario];
  const figure = ({ samplesPerSecond, latency }: SideRun): number =>
    result === undefined ? samplesPerSecond : latency[result.key];
  const inside = pairs.map((pair) => figure(pair.inside));
  const outside = pairs.map((pair) => figure(pair.outside));
  const quotient =
    result === undefined ? pairedQuotient(outside, inside) : pairedQuotient(inside, outside);
  const { value, low, high, confidence, pairs: count } = quotient;
  const band =
    count === 1
      ? 'one pair of runs: no band'
      : `smallest and largest of ${count} pairs of runs made in turns; the median lies between them at ${percentage(confidence)} confidence`;
  return {
    efficiency: {
      ...{ value, low, high, band },
      what: result === undefined ? 'samples/s' : `${result.text} of the latency, ns`,
      inProcess: medianOf(inside),
      network: medianOf(outside),
    },
    whyNot: null,
  };
}

function ofSearches(
  inProcess: SideSearch,
  network: SideSearch,
): Pick<SideComparison, 'efficiency' | 'whyNot'> {
  const inside = bandOf(inProcess);
  const outside = bandOf(network);
  if (inside === null) return { efficiency: null, whyNot: whyNone('in process', inProcess) };
  if (outside === null) return { efficiency: null, whyNot: whyNone('over the network', network) };
  const confidence = Math.min(inProcess.confidence, network.confidence);
  return {
    efficiency: {
      ...quotientOf(outside, inside),
      what: 'confirmed peak, scheduled queries/s',
      inProcess: inside.value,
      network: outside.value,
      band: `ends of the two searches' intervals (${percentage(confidence)} confidence each) against one another`,
    },
    whyNot: null,
  };
}

/** The value with the interval of its search, which it may lie beside: confirmed loads are stepped down. */
function bandOf({ value, interval }: SideSearch): Banded | null {
  if (value === null || interval === null || interval.high === null) return null;
  return { value, low: Math.min(value, interval.low), high: Math.max(value, interval.high) };
}

function whyNone(where: string, { ending, limitText }: SideSearch): string {
  return `the search ${where} has no confirmed peak with an upper end (${ending}): ${limitText}`;
}

function latencyDifference(pairs: readonly RunPair[]): LatencyDifference {
  const inProcess = medianLatencies(pairs.map(({ inside }) => inside.latency));
  const network = medianLatencies(pairs.map(({ outside }) => outside.latency));
  const p99 = pairs.map(({ inside, outside }) => outside.latency.p99Ns - inside.latency.p99Ns);
  const [first] = pairs as [RunPair];
  return {
    load: first.outside.load,
    inProcess,
    network,
    difference: medianLatencies(
      pairs.map(({ inside, outside }) => subtract(outside.latency, inside.latency)),
    ),
    p99Low: Math.min(...p99),
    p99High: Math.max(...p99),
    pairs: pairs.length,
  };
}

const LATENCIES: readonly (keyof RunLatencies)[] = ['meanNs', 'p50Ns', 'p90Ns', 'p99Ns', 'p999Ns'];

function medianLatencies(all: readonly RunLatencies[]): RunLatencies {
  return fromKeys((key) => medianOf(all.map((one) => one[key])));
}

function subtract(a: RunLatencies, b: RunLatencies): RunLatencies {
  return fromKeys((key) => a[key] - b[key]);
}

function fromKeys(figureOf: (key: keyof RunLatencies) => number): RunLatencies {
  return Object.fromEntries(
    LATENCIES.map((key) => [key, figureOf(key)]),
  ) as unknown as RunLatencies;
}

function partDifferences(pairs: readonly RunPair[]): PartDifference[] {
  const splits = pairs.flatMap(({ inside, outside }) =>
    inside.split === null || outside.split === null ? [] : [[inside.split, outside.split] as const],
  );
  if (splits.length === 0) return [];
  const meanOf = (side: 0 | 1, part: LatencyPart): number =>
    medianOf(splits.map((pair) => pair[side].parts.find((one) => one.part === part)?.meanNs ?? 0));
  return LATENCY_PARTS.map((part) => {
    const inProcessNs = meanOf(0, part);
    const networkNs = meanOf(1, part);
    return { part, inProcessNs, networkNs, differenceNs: networkNs - inProcessNs };
  });
}

function invalidRuns({ kind, runs }: EfficiencySide): string[] {
  const where = kind === 'network' ? 'over the network' : 'in process';
  const invalid = runs.filter(({ isValid }) => !isValid);
  const [first] = invalid;
  if (first === undefined) return [];
  return [
    `${invalid.length} of ${runs.length} runs ${where} are INVALID, the first one (${first.folder}) because: ${first.whyInvalid ?? 'not told'}`,
  ];
}

/**
 * Quotient of two values that lie in intervals: as far as both ends may be off at once. Wider than the interval of the quotient
 * would be at the confidence of the two, and never too narrow.
 */
function quotientOf(above: Banded, below: Banded): Banded {
  return {
    value: above.value / below.value,
    low: above.low / below.high,
    high: above.high / below.low,
  };
}

/**
 * Median of the quotients of runs that were made in turns, with the smallest and the largest: what drifts on the machine
 * meets both runs of a pair.
 * @param above One entry or more; as many as `below`.
 */
function pairedQuotient(above: readonly number[], below: readonly number[]) {
  const quotients = above.map((value, i) => value / (below[i] as number)).sort((a, b) => a - b);
  return {
    value: medianOf(quotients),
    low: quotients[0] as number,
    high: quotients.at(-1) as number,
    confidence: 1 - 2 ** (1 - quotients.length),
    pairs: quotients.length,
  };
}

/** Median; of an even number of values the mean of the middle two. */
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}
