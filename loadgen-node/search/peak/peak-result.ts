import { formatNs, percentage, rounded } from '../../../shared/base/text.ts';
import { type BoundName, namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { BOUND_TITLES, boundsText, type Goodput } from '../../present/curve/load-point.ts';
import { besideOthers } from './beside-others.ts';
import { allowedShare, confirmedLoad, measuredLoad } from './full-runs.ts';
import { isPrecise, NEAR, type NextStep, searchState } from './next-probe.ts';
import { streamsBracket } from './next-streams.ts';
import { type PacedSearch, pacedSearch } from './pace.ts';
import {
  isWithinBounds,
  type LoadInterval,
  type LoadSearch,
  type PeakEnding,
  type PeakLimit,
  type PeakProbe,
} from './peak-search.ts';
import { explanationOf, missedIn, tellingProbe } from './telling-probe.ts';

type Ending = Extract<NextStep, { readonly ending: PeakEnding }>;

/** Result of a search, with the reason as text. */
export function peakResult(
  asked: LoadSearch,
  probes: readonly PeakProbe[],
  { ending, invalid }: Ending,
): PeakResult {
  const search = pacedSearch(asked, probes);
  const fulls = probes.filter(({ kind }) => kind === 'full');
  const best = confirmedLoad(fulls, search.full);
  const measured = best && lowest(best.runs.map(measuredLoad));
  const limit = limitOf(search, probes, ending);
  // It would be the interval of a SUT with other work.
  const where = limit === 'others' ? NOWHERE : holding(locate(search, probes, ending), measured);
  const limitedBy = limit === 'sut' || limit === 'unloaded-latency' ? limiting(search, probes) : [];
  const isUnconfirmable = search.full.runs === 0 && (ending === 'found' || ending === 'open');
  const value = isUnconfirmable ? where.estimate : (measured ?? null);
  return {
    ending,
    value,
    load: best?.load ?? null,
    samplesPerSecond:
      best === undefined ? null : lowest(best.runs.map((run) => run.samplesPerSecond)),
    tokensPerSecond: leastTokens(best?.runs ?? []),
    goodput: leastGoodput(best?.runs ?? []),
    held: heldLoad(search, probes),
    ...where,
    confidence: search.confidence,
    limit,
    limitedBy,
    limitText:
      ending === 'unconfirmed' && where.interval === null && limit === 'sut'
        ? `Too few queries fitted into the time of the screenings to tell whether any load keeps the bound of ${allBounds(search, 'and')}.`
        : limitText(search, probes, { limit, limitedBy, invalid }),
    advice: [
      ...(besideOthers(probes)?.advice ?? adviceOf(search, { ending, limit, value, ...where })),
      ...doubts(where, probes),
    ],
    probes,
  };
}

/** Result of a search. */
export interface PeakResult extends Whereabouts {
  readonly ending: PeakEnding;
  /**
   * Value from the confirming run. Server: its scheduled samples per second, at which it kept the
   * bound (the lowest of several runs); MultiStream: its streams. Null if no load is confirmed.
   */
  readonly value: number | null;
  /**
   * Requested load of the confirming run, whose random schedule comes close to it. Null if no load
   * is confirmed.
   */
  readonly load: number | null;
  /**
   * Completed samples per second of the confirming run; the lowest of several. Null if no load is
   * confirmed.
   */
  readonly samplesPerSecond: number | null;
  /**
   * Completed output tokens per second of the same run: the metric of a token model. Null
   * elsewhere.
   */
  readonly tokensPerSecond: number | null;
  /** Goodput of the same run, the lowest share of several. Null if no load is confirmed. */
  readonly goodput: Goodput | null;
  /**
   * Largest load, below the missed ones, at which a probe saw at most the allowed late queries; in
   * an undecided probe that may be chance. Known even if no load is confirmed; null if there is
   * none.
   */
  readonly held: HeldLoad | null;
  /** Confidence of the interval, 0 to 1. */
  readonly confidence: number;
  readonly limit: PeakLimit;
  /**
   * Bounds that the SUT misses above the limit: both if the first cannot be determined. Empty if no
   * bound sets the limit.
   */
  readonly limitedBy: readonly BoundName[];
  /** The limit of the load, in whole sentences. */
  readonly limitText: string;
  /** How to reach a higher load, in whole sentences. */
  readonly advice: readonly string[];
  readonly probes: readonly PeakProbe[];
}

/** A load at which the bound was kept. */
export interface HeldLoad {
  readonly load: number;
  /** Queue growth, as a share of the load, that a probe this short does not show. */
  readonly unseen: number;
  readonly probe: PeakProbe;
}

/** Verdicts of probes whose queries may have kept the bound. */
const HELD: readonly PeakProbe['verdict'][] = ['keeps', 'undecided', 'generator-bound'];

/**
 * The largest load that was kept. A LoadGen that was too slow only lengthens latencies: a bound
 * kept despite that is kept.
 */
function heldLoad(search: PacedSearch, probes: readonly PeakProbe[]): HeldLoad | null {
  const { paceNs, kind } = search;
  const loaded = probes.filter((probe) => probe.kind !== 'unloaded' && probe.queries > 0);
  const missed = loaded.filter(({ verdict }) => verdict === 'misses' || verdict === 'lost');
  const heavy = Math.min(...missed.map(measuredLoad));
  const held = loaded
    .filter((probe) => HELD.includes(probe.verdict) && isWithinBounds(search, probe))
    .map((probe) => {
      const unseen = kind === 'rate' ? paceNs / probe.durationNs : 0;
      // The scheduled load, minus what so short a probe does not show: a queue that grows by bound
      // / duration reaches the bound at its end.
      return { load: measuredLoad(probe) / (1 + unseen), unseen, probe };
    })
    .filter(({ load }) => load < heavy);
  return held.sort((a, b) => b.load - a.load)[0] ?? null;
}

function lowest(values: readonly number[]): number {
  return Math.min(...values);
}

function leastTokens(runs: readonly PeakProbe[]): number | null {
  const rates = runs.flatMap(({ tokens }) => (tokens === null ? [] : [tokens.perSecond]));
  return rates.length === 0 ? null : lowest(rates);
}

function leastGoodput(runs: readonly PeakProbe[]): PeakProbe['goodput'] {
  const known = runs.flatMap(({ goodput }) => (goodput === null ? [] : [goodput]));
  return known.sort((a, b) => a.share - b.share)[0] ?? null;
}

/**
 * Relative likelihood below which a bound with a limit below the estimate is not the limiting one.
 */
const AS_LIKELY = 0.5;

/** The bounds that set the limit, if the search has several. */
function limiting(search: PacedSearch, probes: readonly PeakProbe[]): readonly BoundName[] {
  const unloaded = probes.find(({ kind }) => kind === 'unloaded');
  if (unloaded?.verdict === 'misses') return missedIn(search, unloaded);
  const state = search.kind === 'rate' ? searchState(search, probes) : undefined;
  const joint = state?.curve();
  if (state === undefined || joint === undefined) {
    const missed = probes.filter((probe) => missedIn(search, probe).length > 0);
    const lightest = missed.sort((a, b) => a.load - b.load)[0];
    return lightest === undefined ? [] : missedIn(search, lightest);
  }
  const chances = state
    .fitted()
    .map(({ name, curve }) => ({ name, chance: 1 - curve.above(joint.estimate) }));
  const most = Math.max(...chances.map(({ chance }) => chance));
  return chances.filter(({ chance }) => chance >= AS_LIKELY * most).map(({ name }) => name);
}

function allBounds(search: LoadSearch, joint: 'and' | 'or'): string {
  return boundsText(namedBounds(search), joint);
}

/** Where the limit lies. */
interface Whereabouts {
  /** Null if the probes show no limit. */
  readonly estimate: number | null;
  /** `high` is infinite for an open search. Null if the probes show no limit. */
  readonly interval: LoadInterval | null;
  /**
   * True if the interval follows from the probes' late queries; false if it is from a light to a
   * heavy load.
   */
  readonly isFitted: boolean;
  /** True if the requested half width (as a share) was reached. */
  readonly isPrecise: boolean;
}

const NOWHERE: Whereabouts = { estimate: null, interval: null, isFitted: false, isPrecise: false };

function locate(
  search: PacedSearch,
  probes: readonly PeakProbe[],
  ending: PeakEnding,
): Whereabouts {
  if (ending === 'none') return { ...NOWHERE, isPrecise: true };
  if (search.kind === 'streams') {
    const { low, high = Number.POSITIVE_INFINITY } = streamsBracket(search, probes);
    const interval = { low, high: high - 1 };
    const isPrecise = low === interval.high;
    return { estimate: low, interval, isFitted: false, isPrecise };
  }
  const state = searchState(search, probes);
  const { low, high, cap } = state;
  const curve = state.curve();
  if (low === undefined) return NOWHERE;
  if (curve !== undefined && (cap === undefined || curve.estimate < cap.load)) {
    const { estimate } = curve;
    const seen = 1 - unseenOverload(search, probes, estimate);
    const interval = { ...curve.interval, low: Math.min(curve.interval.low, estimate * seen) };
    const precise = isPrecise({ estimate, interval }, search.precision);
    return { estimate, interval, isFitted: true, isPrecise: precise };
  }
  // Latencies set no limit here: only light and heavy loads are known.
  const interval = { low, high: high ?? Number.POSITIVE_INFINITY };
  return { estimate: low, interval, isFitted: false, isPrecise: high !== undefined };
}

/**
 * Overload, as a share of the load, that probes near the limit were too short to show: an initially
 * empty queue that is too slow by bound / duration passes the bound only at the end. Probes are
 * weighted by their queries, as for the limit.
 */
function unseenOverload(
  { paceNs }: PacedSearch,
  probes: readonly PeakProbe[],
  estimate: number,
): number {
  const near = probes.filter(
    ({ kind, load }) => kind !== 'unloaded' && Math.abs(load / estimate - 1) <= NEAR,
  );
  const queries = near.reduce((sum, probe) => sum + probe.queries, 0);
  const unseen = near.reduce(
    (sum, probe) => sum + (probe.queries * paceNs) / Math.max(1, probe.durationNs),
    0,
  );
  return Math.min(0.5, (2 * unseen) / Math.max(1, queries));
}

/** Extends the interval to a confirmed load: the limit is not below it. */
function holding(where: Whereabouts, confirmed: number | undefined): Whereabouts {
  const { interval } = where;
  if (interval === null || confirmed === undefined || confirmed <= interval.high) return where;
  return { ...where, interval: { low: interval.low, high: confirmed } };
}

function limitOf(search: PacedSearch, probes: readonly PeakProbe[], ending: PeakEnding): PeakLimit {
  if (besideOthers(probes) !== null) return 'others';
  if (ending === 'open') return 'load-max';
  const unloaded = probes.find(({ kind }) => kind === 'unloaded');
  if (ending === 'none' && unloaded?.verdict === 'misses') return 'unloaded-latency';
  // Screenings may succeed because they are short; what counts did not.
  const isStarved = ending === 'unconfirmed' && probes.at(-1)?.verdict === 'generator-bound';
  if (isStarved) return 'generator';
  const breaker =
    search.kind === 'rate' ? rateBreaker(search, probes) : streamsBreaker(search, probes);
  if (breaker?.verdict === 'generator-bound') return 'generator';
  return breaker?.verdict === 'lost' ? 'lost-samples' : 'sut';
}

/** The probe that ended the search's way up for a reason other than latency. */
function rateBreaker(search: PacedSearch, probes: readonly PeakProbe[]): PeakProbe | undefined {
  const state = searchState(search, probes);
  const { cap } = state;
  const curve = state.curve();
  if (curve !== undefined && cap !== undefined && curve.estimate < cap.load * 0.99)
    return undefined;
  return cap ?? probes.find(({ verdict }) => verdict === 'lost');
}

function streamsBreaker(search: LoadSearch, probes: readonly PeakProbe[]): PeakProbe | undefined {
  const { high } = streamsBracket(search, probes);
  return probes.find(({ load, verdict }) => load === high && verdict !== 'undecided');
}

function limitText(
  search: LoadSearch,
  probes: readonly PeakProbe[],
  {
    limit,
    limitedBy,
    invalid,
  }: {
    readonly limit: PeakLimit;
    readonly limitedBy: readonly BoundName[];
    readonly invalid: PeakProbe | undefined;
  },
): string {
  if (invalid !== undefined) return `The confirming run is no result at any load: ${invalid.why}`;
  const bound = allBounds(search, 'and');
  const last = [...probes].reverse();
  switch (limit) {
    case 'others':
      return besideOthers(probes)?.limitText ?? '';
    case 'load-max':
      return (
        `No load up to ${loadText(search, search.loadMax)} missed the bound of ${bound}: ` +
        'a run plans all its queries in memory, and more of them it does not plan.'
      );
    case 'unloaded-latency': {
      const unloaded = probes.find(({ kind }) => kind === 'unloaded');
      const missed = namedBounds(search).filter(({ name }) => limitedBy.includes(name));
      const seen = missed.map(({ name }) => {
        const ns = unloaded?.bounds.find((one) => one.name === name)?.percentileNs ?? Number.NaN;
        return `${name === 'latency' ? '' : `${BOUND_TITLES[name]} `}${formatNs(ns)}`;
      });
      return (
        `The bound of ${boundsText(missed, 'and')} is missed even by one query at a time: they took ${formatNs(Math.round(unloaded?.meanNs ?? 0))} in the mean, ` +
        `${seen.join(' and ')} at percentile ${percentileText(search)}.`
      );
    }
    case 'generator':
    case 'lost-samples': {
      const verdict = limit === 'generator' ? 'generator-bound' : 'lost';
      const probe = last.find((it) => it.verdict === verdict);
      const whose =
        limit === 'generator'
          ? GENERATOR_TEXT
          : 'The SUT loses samples above this load, before its latency reaches the bound.';
      return `${whose} At ${loadText(search, probe?.load ?? 0)} ${probe?.why ?? ''}.`;
    }
    case 'sut': {
      const telling = tellingProbe(search, probes, limitedBy);
      return (
        aboveText(search, probes, limitedBy) +
        (telling === undefined
          ? ''
          : ` At ${loadText(search, telling.load)}: ${explanationOf(telling, limitedBy)}`)
      );
    }
  }
}

/**
 * Text on the bound that queries above the limit miss; with two, which one it is, and how far the
 * other is.
 */
function aboveText(
  search: LoadSearch,
  probes: readonly PeakProbe[],
  limitedBy: readonly BoundName[],
): string {
  const late = percentage(1 - search.percentile);
  const all = namedBounds(search);
  if (all.length < 2) {
    return `Above it more than ${late} of the queries are late (above ${boundsText(all, 'or')}).`;
  }
  const missed = all.filter(({ name }) => limitedBy.includes(name));
  const others = all.filter(({ name }) => !limitedBy.includes(name));
  const titles = missed.map(({ name }) => BOUND_TITLES[name]);
  const text = `${titles.join(' and ')} ${titles.length === 1 ? 'limits' : 'limit alike'}: above it more than ${late} of the queries are above ${boundsText(missed, 'or')}.`;
  const confirming = probes.filter(({ kind, verdict }) => kind === 'full' && verdict === 'keeps');
  const best = confirming.sort((a, b) => b.load - a.load)[0];
  const rest = others.flatMap(({ name, ns }) => {
    const seenNs = best?.bounds.find((one) => one.name === name)?.percentileNs;
    if (seenNs === undefined) return [];
    return ` ${BOUND_TITLES[name]} is ${formatNs(seenNs)} at the peak, of ${formatNs(ns)}.`;
  });
  return missed.length === 0 ? '' : `${text}${rest.join('')}`;
}

/** Text for a limit set by LoadGen: times with a slow LoadGen do not describe the SUT. */
const GENERATOR_TEXT = "The limit is LoadGen's: what the SUT carries beyond it is not known.";

/**
 * Text on doubtful intervals: half of them are wrong if 0.8 % are late without load and 1 % is
 * allowed (docs/find-peak.md).
 */
function doubts({ interval }: Whereabouts, probes: readonly PeakProbe[]): string[] {
  const unloaded = probes.find(({ kind }) => kind === 'unloaded');
  const late = Math.max(0, ...(unloaded?.bounds ?? []).map(({ overQueries }) => overQueries));
  if (interval === null || unloaded === undefined || late === 0) return [];
  return [
    `Even one at a time ${late} of ${unloaded.queries} queries were late: ` +
      'lateness hardly depends on the load then, and the interval is less sure than it says.',
  ];
}

function adviceOf(
  search: LoadSearch,
  {
    ending,
    limit,
    value,
    estimate,
    interval,
    isPrecise: precise,
  }: Whereabouts & { ending: PeakEnding; limit: PeakLimit; value: number | null },
): string[] {
  const advice: string[] = [];
  if (limit === 'generator') {
    advice.push('Give the LoadGen node a machine, or cores, of its own, then search again.');
  }
  if (limit === 'unloaded-latency' || (ending === 'none' && limit === 'sut')) {
    advice.push('Raise the bound, or make a single query faster: no load is light enough.');
  }
  if (!precise && ending === 'found' && limit === 'sut' && search.kind === 'rate') {
    advice.push(
      'The interval is wider than --precision asks for: --search-time makes it narrower.',
    );
  }
  if (value !== null && estimate !== null && interval !== null && search.full.runs > 0) {
    const allowed = allowedShare(search, value);
    const late = 1 - search.percentile;
    if (value < interval.low && allowed < 0.9 * late) {
      advice.push(
        `Early stopping lets only ${percentage(allowed)} of so few queries be late, not ${percentage(late)}: ` +
          'a longer run (--min-duration, --min-query-count) confirms more.',
      );
    }
  }
  if (ending === 'unconfirmed' && interval === null && limit === 'sut') {
    advice.push('Longer screenings (--search-time) may find a load that keeps the bound.');
  } else if (ending === 'unconfirmed' && limit === 'sut') {
    advice.push(
      'A longer run (--min-duration) has less luck in it; more loads may be tried with --confirm-loads.',
    );
  }
  return advice;
}

/** A load with its unit. */
export function loadText({ kind }: LoadSearch, load: number): string {
  if (kind === 'streams') return `${load} ${load === 1 ? 'stream' : 'streams'}`;
  return `${loadRateText(load)} queries/s`;
}

/** A rate with significant digits according to its size. */
export function loadRateText(rate: number): string {
  return rate >= 1000 ? rate.toFixed(0) : rounded(rate, 4);
}

/** The percentile of the bound, in percent: `99`, `97.5`. */
export function percentileText({ percentile }: LoadSearch): string {
  return rounded(percentile * 100, 6);
}
