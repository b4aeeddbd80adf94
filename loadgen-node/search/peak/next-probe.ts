import { namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { type BoundFit, boundLooks, CURVE_RATIO, fitBound } from './bound-fits.ts';
import { type FullStep, nextFullRun } from './full-runs.ts';
import { jointCurve, type LoadCurve } from './load-curve.ts';
import { normalDeviate } from './over-share.ts';
import { type PacedSearch, pacedSearch, RUN_BOUNDS_MIN } from './pace.ts';
import {
  BACKLOG_GREW,
  type LoadInterval,
  type LoadSearch,
  type PeakEnding,
  type PeakProbe,
  type ProbeKind,
} from './peak-search.ts';

/** The next probe of a search. */
export interface PlannedProbe {
  readonly kind: ProbeKind;
  readonly load: number;
  /** Unless `full`. */
  readonly queriesMax: number;
  readonly durationNsMax: number;
  /** A screening ends as soon as its verdict is as sure as this, 0 to 1. */
  readonly confidence: number;
  /**
   * Time that passes at least before a load is light, in ns: a queue starts empty, and needs its time
   * until the first query is late. `full`: of the run.
   */
  readonly durationNsMin: number;
}

/** Next probe of a search, or its end. */
export type NextStep =
  | { readonly probe: PlannedProbe }
  | { readonly ending: PeakEnding; readonly invalid?: PeakProbe | undefined };

/**
 * Late queries that an unloaded look, a step of the bracket and a step of the closing-in expect
 * near the limit.
 */
const UNLOADED_QUERIES_MAX = 300;
const UNLOADED_NS_MAX = 5e9;
const BRACKET_LATE = 20;
const REFINE_LATE_MIN = 60;
/**
 * Bounds that pass before the first query is late where a queue that starts empty is a tenth too
 * slow; a fiftieth.
 */
const BRACKET_BOUNDS_MIN = 10;
const REFINE_BOUNDS_MIN = RUN_BOUNDS_MIN;
/** A bracket this narrow is left to the curve. */
const BRACKET_RATIO = 1.3;
/** A bracket step takes at most this part of the time of all screenings. */
const BRACKET_TIME_SHARE = 0.1;
const BRACKET_CONFIDENCE = 0.99;
/**
 * Closing in, only what is far off ends early: a probe near the limit is worth most when it is
 * long.
 */
const REFINE_CONFIDENCE = 0.99999;
/**
 * Of the queries that the interval still needs, a screening makes this part: the next one is better
 * placed.
 */
const REFINE_SHARE = 0.5;
/** Busy share of a server that takes one query at a time below which a load is as good as none. */
const UTILISATION_MIN = 0.005;
/** Late queries that a step down expects at least where as many are late as may be. */
const LATE_EXPECTED_MIN = 1;
/**
 * Probes at one load at which LoadGen is too slow that make it its limit; and where it was fast
 * enough at a higher one.
 */
const BOUND_TIMES = 2;
const BOUND_TIMES_UNLIKELY = 4;
/** Of the time of all screenings, so much is spent on loads of which LoadGen brings none out. */
const BOUND_TIME_SHARE = 0.5;
/** Probes whose load is this near to the limit, as a share of it, count as near. */
export const NEAR = 0.2;
/** Loads this near are one load for one that is repeated. */
const SAME_LOAD = 0.01;

/** Computes the state of a search for a rate from its probes so far. */
export function searchState(search: PacedSearch, probes: readonly PeakProbe[]) {
  const screenings = probes.filter(({ kind }) => kind === 'screening');
  const fulls = probes.filter(({ kind }) => kind === 'full');
  const loaded = [...screenings, ...fulls];
  /**
   * Load at which samples were lost or LoadGen was too slow: the limit is not above it, whatever
   * latencies say.
   */
  const cap = capOf(loaded);
  const heavy = screenings
    .filter((probe) => looksOf(search, probe) === 'heavy')
    .map(({ load }) => load);
  const hasLateLoad = heavy.length > 0;
  if (cap !== undefined) heavy.push(cap.load);
  // The limit lies between light and heavy loads that were tried; undefined while there is none of
  // them.
  const high = heavy.length === 0 ? undefined : Math.min(...heavy);
  const light = screenings
    .filter((probe) => looksOf(search, probe) === 'light' && probe.load < (high ?? Infinity))
    .map(({ load }) => load);
  const low = light.length === 0 ? undefined : Math.max(...light);
  const unloaded = probes.find(({ kind }) => kind === 'unloaded');
  // Without a load at which queries are late the limit is unknown.
  const isBracketed =
    hasLateLoad && low !== undefined && high !== undefined && high / low <= CURVE_RATIO;
  let fits: readonly BoundFit[] | undefined;
  /** The limit of each bound by itself; none of a bound whose limit is not seen near that of the load. */
  const fitted = (): readonly BoundFit[] => {
    fits ??= isBracketed
      ? namedBounds(search).flatMap((bound, i) => {
          const curve = fitBound(search, { bound, i }, { screenings, fulls, cap, unloaded });
          return curve === undefined ? [] : [{ name: bound.name, curve }];
        })
      : [];
    return fits;
  };
  let joint: LoadCurve | undefined;
  /** Undefined where latencies do not show a limit. */
  const curve = (): LoadCurve | undefined => {
    const curves = fitted().map((fit) => fit.curve);
    if (curves.length > 0) joint ??= jointCurve(curves, search.confidence);
    return joint;
  };
  return { low, high, cap, curve, fitted, screenings, fulls };
}

type SearchState = ReturnType<typeof searchState>;

/** The next step of a search for a rate; it follows from the probes alone. */
export function nextRateStep(asked: LoadSearch, probes: readonly PeakProbe[]): NextStep {
  const search = pacedSearch(asked, probes);
  const unloaded = probes.find(({ kind }) => kind === 'unloaded');
  if (unloaded === undefined) return { probe: unloadedLook() };
  if (unloaded.verdict === 'misses' || unloaded.verdict === 'lost') return { ending: 'none' };
  const state = searchState(search, probes);
  const bracket = nextBracket(search, state, unloaded);
  if (bracket !== undefined) return bracket;
  const curve = state.curve();
  if (state.fulls.length === 0 && curve !== undefined) {
    const refine = nextRefinement(search, curve, state);
    if (refine !== undefined) return { probe: refine };
  }
  return confirm(search, state);
}

function unloadedLook(): PlannedProbe {
  return {
    kind: 'unloaded',
    load: 1,
    queriesMax: UNLOADED_QUERIES_MAX,
    durationNsMax: UNLOADED_NS_MAX,
    confidence: 0.9999,
    durationNsMin: 0,
  };
}

/** The lowest load at which something else than the latency ended it. */
function capOf(loaded: readonly PeakProbe[]): PeakProbe | undefined {
  const broken = loaded.filter(
    (probe) =>
      probe.verdict === 'lost' ||
      (probe.verdict === 'generator-bound' && isBound(loaded, probe.load)),
  );
  return broken.sort((a, b) => a.load - b.load)[0];
}

/**
 * LoadGen may be disturbed: what is its limit shows again at the same load, and no higher load goes
 * well. Once it has shown twice and none went well, one probe tells it of each lower load.
 */
function isBound(loaded: readonly PeakProbe[], load: number): boolean {
  const count = loaded.filter(
    (probe) => probe.verdict === 'generator-bound' && Math.abs(probe.load / load - 1) <= SAME_LOAD,
  ).length;
  // LoadGen was fast enough. A probe that ended since its backlog grew was not asked.
  const went = loaded.filter(
    ({ verdict, why }) => !['generator-bound', 'lost'].includes(verdict) && why !== BACKLOG_GREW,
  );
  if (went.some((probe) => probe.load >= load * (1 - SAME_LOAD))) {
    return count >= BOUND_TIMES_UNLIKELY;
  }
  const isKnown =
    loaded.filter(({ verdict }) => verdict === 'generator-bound').length > BOUND_TIMES;
  return count >= (went.length === 0 && isKnown ? 1 : BOUND_TIMES);
}

/**
 * By its verdict; where that is open, by its late queries. Undefined where it does not decide about the
 * bound.
 */
function looksOf(search: LoadSearch, probe: PeakProbe): 'heavy' | 'light' | undefined {
  const looks = probe.bounds.map((_, i) => boundLooks(search, probe, i));
  return looks.includes('heavy') ? 'heavy' : looks[0];
}

function nextBracket(
  search: PacedSearch,
  { low, high, cap, fulls, screenings }: SearchState,
  unloaded: PeakProbe,
): NextStep | undefined {
  if (fulls.length > 0) return undefined;
  const { loadMax } = search;
  if (high === undefined) {
    if (low !== undefined && low >= loadMax * (1 - SAME_LOAD)) return undefined;
    const start = search.startLoad ?? 0.5e9 / unloaded.meanNs;
    return { probe: bracketStep(search, Math.min(loadMax, low === undefined ? start : low * 2)) };
  }
  const isCapped = cap !== undefined && cap.load <= high;
  if (low === undefined) {
    const isOfLoadgen = isCapped && cap.verdict === 'generator-bound';
    return below(search, { high, isOfLoadgen }, screenings, unloaded);
  }
  // What is not the SUT's limit is worth no more than the time that was announced.
  if (isCapped && timeLeftNs(search, screenings) <= 0) return undefined;
  const ratio = isCapped ? 1 + search.precision : BRACKET_RATIO;
  if (high / low <= ratio) return undefined;
  return { probe: bracketStep(search, Math.sqrt(low * high)) };
}

/** Next step where every load so far was too heavy, `high` the lightest of them; `isOfLoadgen`: it is LoadGen that was too slow for it. */
function below(
  search: PacedSearch,
  { high, isOfLoadgen }: { readonly high: number; readonly isOfLoadgen: boolean },
  screenings: readonly PeakProbe[],
  unloaded: PeakProbe,
): NextStep {
  const leastLeftNs = (1 - BOUND_TIME_SHARE) * search.screeningNsMax;
  if (isOfLoadgen && timeLeftNs(search, screenings) <= leastLeftNs) {
    return { ending: 'unconfirmed' };
  }
  const step = bracketStep(search, high / 2);
  const isIdle = (step.load * unloaded.meanNs) / 1e9 < UTILISATION_MIN;
  // Fewer queries than one late one would be expected of: no verdict, and full runs of hours.
  const isTooSlow =
    (step.load * step.durationNsMax) / 1e9 < LATE_EXPECTED_MIN / (1 - search.percentile);
  if (!isIdle && !isTooSlow) return { probe: step };
  // Few queries of a slow SUT may be late by chance: then the load is undecided.
  const isHeavy = screenings.some(
    ({ load, verdict }) => load === high && (verdict === 'misses' || verdict === 'lost'),
  );
  return { ending: isIdle && isHeavy ? 'none' : 'unconfirmed' };
}

function bracketStep(search: PacedSearch, load: number): PlannedProbe {
  return {
    kind: 'screening',
    load,
    queriesMax: Math.ceil(
      Math.max(
        BRACKET_LATE / (1 - search.percentile),
        queriesOfBounds(search, load, BRACKET_BOUNDS_MIN),
      ),
    ),
    durationNsMax: Math.max(
      search.answerNs > 0 ? 0 : search.screeningNsMax * BRACKET_TIME_SHARE,
      search.paceNs * (BRACKET_BOUNDS_MIN + 1),
    ),
    confidence: BRACKET_CONFIDENCE,
    durationNsMin: BRACKET_BOUNDS_MIN * search.paceNs,
  };
}

/** Queries that come while so many bounds pass. */
function queriesOfBounds({ paceNs }: PacedSearch, load: number, bounds: number): number {
  return (load * paceNs * bounds) / 1e9;
}

/** Of the time of all screenings. */
function timeLeftNs({ screeningNsMax }: LoadSearch, screenings: readonly PeakProbe[]): number {
  return screenings.reduce((leftNs, { durationNs }) => leftNs - durationNs, screeningNsMax);
}

/** A screening at the estimate; undefined: the interval is narrow enough, or the time is over. */
function nextRefinement(
  search: PacedSearch,
  curve: LoadCurve,
  { screenings, cap }: SearchState,
): PlannedProbe | undefined {
  if (isLongEnough(search, curve, screenings) && isPrecise(curve, search.precision))
    return undefined;
  if (cap !== undefined && curve.estimate >= cap.load) return undefined;
  const leftNs = timeLeftNs(search, screenings);
  const late = 1 - search.percentile;
  const load = Math.min(curve.estimate, search.loadMax);
  const settled = queriesOfBounds(search, load, REFINE_BOUNDS_MIN);
  const least = Math.max(REFINE_LATE_MIN / late, settled);
  const z = normalDeviate((1 + search.confidence) / 2);
  const needed = (curve.varianceFactor / late) * (z / (curve.slope * search.precision)) ** 2;
  const queries = Math.max(least, (needed - curve.queries) * REFINE_SHARE);
  // The time that is left is not worth a probe.
  if ((leftNs * load) / 1e9 < least / 2) return undefined;
  return {
    kind: 'screening',
    load,
    queriesMax: Math.ceil(queries),
    durationNsMax: leftNs,
    confidence: REFINE_CONFIDENCE,
    durationNsMin: REFINE_BOUNDS_MIN * search.paceNs,
  };
}

/**
 * Whether a screening near the limit would have seen a queue that is a fiftieth too slow: the steps
 * of the bracket may not have.
 */
function isLongEnough(
  { paceNs }: PacedSearch,
  { estimate }: LoadCurve,
  screenings: readonly PeakProbe[],
): boolean {
  return screenings.some(
    ({ durationNs, load }) =>
      durationNs >= RUN_BOUNDS_MIN * paceNs && Math.abs(load / estimate - 1) <= NEAR,
  );
}

/** True when the interval is as narrow as requested. */
export function isPrecise(
  { estimate, interval }: Pick<LoadCurve, 'estimate' | 'interval'>,
  precision: number,
): boolean {
  return (interval.high - interval.low) / 2 <= precision * estimate;
}

function confirm(search: PacedSearch, state: SearchState): NextStep {
  const { low, high, cap, fulls } = state;
  const open: PeakEnding = high === undefined ? 'open' : 'found';
  if (search.full.runs === 0) return { ending: open };
  const loadMax = cap === undefined ? search.loadMax : Math.min(search.loadMax, cap.load * 0.999);
  const step = nextFullRun(search, state.curve() ?? flatCurve(low ?? 0, high), fulls, loadMax);
  if ('load' in step) return { probe: fullProbe(search, step.load) };
  return endingOf(step, open, fulls);
}

/** A run of the round's own length at a load. */
export function fullProbe(search: LoadSearch, load: number): PlannedProbe {
  return {
    kind: 'full',
    load,
    queriesMax: Number.POSITIVE_INFINITY,
    durationNsMax: Number.POSITIVE_INFINITY,
    confidence: 1,
    durationNsMin: search.full.minDurationNs,
  };
}

function endingOf(
  step: Exclude<FullStep, { readonly load: number }>,
  open: PeakEnding,
  fulls: readonly PeakProbe[],
): NextStep {
  if (step.done === 'confirmed') return { ending: open };
  const invalid = fulls.find(({ verdict }) => verdict === 'invalid');
  return { ending: 'unconfirmed', invalid };
}

/**
 * Where latencies set no limit there is no curve: the highest load that was light is what is
 * confirmed.
 */
function flatCurve(low: number, high: number | undefined): LoadCurve {
  const interval: LoadInterval = { low, high: high ?? Number.POSITIVE_INFINITY };
  return {
    above: (load) => (load < low ? 1 : 0),
    estimate: low,
    interval,
    slope: Number.POSITIVE_INFINITY,
    varianceFactor: 1,
    queries: 0,
  };
}
