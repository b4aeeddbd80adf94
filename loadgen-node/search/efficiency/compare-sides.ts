import { at } from '../../../shared/base/at.ts';
import { percentage } from '../../../shared/base/text.ts';
import { LATENCY_PARTS, type LatencyPart } from '../../observe/split/latency-parts.ts';
import {
  type EfficiencySide,
  LATENCY_ROWS,
  type RunLatencies,
  type SideRun,
  type SideSearch,
  TOKEN_ROWS,
  type TokenTimes,
} from './efficiency-sides.ts';

/**
 * Scenarios whose result is a latency, and at which percentile: there the quotient is of latencies,
 * turned round.
 */
const LATENCY_RESULTS: Readonly<
  Record<string, { readonly key: keyof RunLatencies; readonly text: string }>
> = {
  SingleStream: { key: 'p90Ns', text: 'p90' },
  MultiStream: { key: 'p99Ns', text: 'p99' },
};

/**
 * Compares the results in process with those over the network.
 * @param scenario As in LoadGen's logs.
 */
export function compareSides(
  scenario: string,
  inProcess: EfficiencySide,
  network: EfficiencySide,
): SideComparison {
  const pairs = pairRuns(inProcess.runs, network.runs);
  return {
    ...efficiencyOf(scenario, inProcess, network, pairs),
    latency: pairs.length === 0 || scenario === 'Offline' ? null : latencyDifference(pairs),
    parts: partDifferences(pairs),
    warnings: [...invalidRuns(inProcess), ...invalidRuns(network)],
  };
}

/** Results in process against those over the network. */
export type SideComparison = MaybeEfficiency & {
  readonly latency: LatencyDifference | null;
  /** Empty where a side knows no parts. */
  readonly parts: readonly PartDifference[];
  /** Runs that are INVALID, in words. */
  readonly warnings: readonly string[];
};

/** Null where a side has no value; `whyNot` says why. */
type MaybeEfficiency =
  | { readonly efficiency: null; readonly whyNot: string }
  | { readonly efficiency: Efficiency; readonly whyNot: null };

/** The result over the network as a share of that in process. */
interface Efficiency {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Which results, in words. */
  readonly what: string;
  readonly inProcess: number;
  readonly network: number;
  /** Output tokens per second; null where the model has none or their rate is not the result. */
  readonly tokens: { readonly inProcess: number; readonly network: number } | null;
  /** Meaning of `low` and `high`, in words. */
  readonly band: string;
}

/** How much longer the same queries took over the network: medians over the pairs of runs, in ns. */
export interface LatencyDifference extends Medians<RunLatencies> {
  /** Server: load of both runs in queries per second; null elsewhere. */
  readonly load: number | null;
  /** Smallest and largest difference among the pairs. */
  readonly p99Low: number;
  readonly p99High: number;
  readonly pairs: number;
  /** Of a token model; null where the times of tokens are not measured. */
  readonly tokens: Medians<TokenTimes> | null;
}

/** Medians over the pairs: of each side, and of what the network adds. */
interface Medians<T> {
  readonly inProcess: T;
  readonly network: T;
  readonly difference: T;
}

/** A part of the latency on both sides: medians of means, in ns. */
export interface PartDifference {
  readonly part: LatencyPart;
  readonly inProcessNs: number;
  readonly networkNs: number;
  readonly differenceNs: number;
}

/** Two runs of the same settings and load. */
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
): MaybeEfficiency {
  if (inProcess.search !== null && network.search !== null) {
    return ofSearches(inProcess.search, network.search);
  }
  if (pairs.length === 0) return { efficiency: null, whyNot: 'no run was made on both sides' };
  const result = LATENCY_RESULTS[scenario];
  const hasTokens = pairs.every(
    ({ inside, outside }) => inside.tokensPerSecond !== null && outside.tokensPerSecond !== null,
  );
  // The metric of a token model is its tokens.
  const rate = ({ samplesPerSecond, tokensPerSecond }: SideRun): number =>
    hasTokens ? (tokensPerSecond ?? 0) : samplesPerSecond;
  const figure = (run: SideRun): number =>
    result === undefined ? rate(run) : run.latency[result.key];
  const inside = pairs.map((pair) => figure(pair.inside));
  const outside = pairs.map((pair) => figure(pair.outside));
  const quotient =
    result === undefined ? pairedQuotient(outside, inside) : pairedQuotient(inside, outside);
  const { confidence, ...banded } = quotient;
  const count = pairs.length;
  /** How sure the band is, in words. */
  const band =
    count === 1
      ? 'one pair of runs: no band'
      : `smallest and largest of ${count} pairs of runs made in turns; the median lies between them at ${percentage(confidence)} confidence`;
  return {
    efficiency: {
      ...banded,
      band,
      /** The two values, for people: `peak, queries/s`. */
      what: result === undefined ? rateName(hasTokens) : `${result.text} of the latency, ns`,
      inProcess: medianOf(inside),
      network: medianOf(outside),
      tokens: null,
    },
    whyNot: null,
  };
}

function rateName(hasTokens: boolean): string {
  return hasTokens ? 'completed tokens/s' : 'samples/s';
}

function ofSearches(inProcess: SideSearch, network: SideSearch): MaybeEfficiency {
  const inside = bandOf(inProcess);
  const outside = bandOf(network);
  if (inside === null) return { efficiency: null, whyNot: whyNone('in process', inProcess) };
  if (outside === null) return { efficiency: null, whyNot: whyNone('over the network', network) };
  const confidence = Math.min(inProcess.confidence, network.confidence);
  const [own, other] = [inProcess.tokensPerSecond, network.tokensPerSecond];
  return {
    efficiency: {
      // As far as both ends may be off at once: wider than the quotient's own interval would be,
      // and never too narrow.
      value: outside.value / inside.value,
      low: outside.low / inside.high,
      high: outside.high / inside.low,
      what: 'confirmed peak, scheduled queries/s',
      inProcess: inside.value,
      network: outside.value,
      tokens: own === null || other === null ? null : { inProcess: own, network: other },
      band: `ends of the two searches' intervals (${percentage(confidence)} confidence each) against one another`,
    },
    whyNot: null,
  };
}

/**
 * The value with the interval of its search, which it may lie beside: confirmed loads are stepped
 * down.
 */
function bandOf({ value, interval }: SideSearch) {
  if (value === null || interval === null || interval.high === null) return null;
  return { value, low: Math.min(value, interval.low), high: Math.max(value, interval.high) };
}

function whyNone(where: string, { ending, limitText }: SideSearch): string {
  return `the search ${where} has no confirmed peak with an upper end (${ending}): ${limitText}`;
}

function latencyDifference(pairs: readonly RunPair[]): LatencyDifference {
  const p99 = pairs.map(({ inside, outside }) => outside.latency.p99Ns - inside.latency.p99Ns);
  const [first] = pairs as [RunPair];
  const latencies = pairs.map(({ inside, outside }) => [inside.latency, outside.latency] as const);
  return {
    load: first.outside.load,
    ...medians<RunLatencies>(LATENCY_ROWS, latencies),
    p99Low: Math.min(...p99),
    p99High: Math.max(...p99),
    pairs: pairs.length,
    tokens: tokenDifference(pairs),
  };
}

function tokenDifference(pairs: readonly RunPair[]): Medians<TokenTimes> | null {
  const times = pairs.flatMap(({ inside, outside }) => {
    const [one, other] = [inside.tokenTimes, outside.tokenTimes];
    return one === null || other === null ? [] : [[one, other] as const];
  });
  return times.length === 0 ? null : medians<TokenTimes>(TOKEN_ROWS, times);
}

function medians<T extends Readonly<Record<string, number>>>(
  rows: readonly (readonly [string, keyof T])[],
  pairs: readonly (readonly [inside: T, outside: T])[],
): Medians<T> {
  const by = (figureOf: (inside: T, outside: T, key: keyof T) => number): T =>
    Object.fromEntries(
      rows.map(([, key]) => [
        key,
        medianOf(pairs.map(([inside, outside]) => figureOf(inside, outside, key))),
      ]),
    ) as T;
  return {
    inProcess: by((inside, _, key) => inside[key] as number),
    network: by((_, outside, key) => outside[key] as number),
    difference: by((inside, outside, key) => (outside[key] as number) - (inside[key] as number)),
  };
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
    `${invalid.length} of ${runs.length} runs ${where} are INVALID, the first one (${first.folder}) because: ${first.whyInvalid ?? 'not reported'}`,
  ];
}

/**
 * Median of the quotients of runs that were made in turns, with the smallest and the largest: what drifts on the machine
 * meets both runs of a pair.
 * @param above One entry or more; as many as `below`.
 */
function pairedQuotient(above: readonly number[], below: readonly number[]) {
  const quotients = above.map((value, i) => value / at(below, i)).sort((a, b) => a - b);
  return {
    value: medianOf(quotients),
    low: at(quotients, 0),
    high: quotients.at(-1) as number,
    confidence: 1 - 2 ** (1 - quotients.length),
  };
}

/** Median; of an even number of values the mean of the middle two. */
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = at(sorted, middle);
  return sorted.length % 2 === 1 ? upper : (upper + at(sorted, middle - 1)) / 2;
}
