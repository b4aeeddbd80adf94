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
  /** Most queries of the probe; infinite for a full run. */
  readonly queriesMax: number;
  readonly durationNsMax: number;
  /** A screening ends when its verdict has this confidence, 0 to 1. */
  readonly confidence: number;
  /**
   * Shortest time before a load counts as light, in ns: a queue starts empty, and needs time until
   * the first query is late. For a full run, its minimum duration.
   */
  readonly durationNsMin: number;
}

/** Next probe of a search, or its end. */
export type NextStep =
  | { readonly probe: PlannedProbe }
  | { readonly ending: PeakEnding; readonly invalid?: PeakProbe | undefined };

/** Limits of the unloaded measurement. */
const UNLOADED_QUERIES_MAX = 300;
const UNLOADED_NS_MAX = 5e9;
/** Late queries expected near the limit: in a bracket step, and at least in a narrowing step. */
const BRACKET_LATE = 20;
const REFINE_LATE_MIN = 60;
/**
 * Units of time until the first query is late, if the queue starts empty and the load is too high
 * by a tenth (bracket step) or by a fiftieth (narrowing step).
 */
const BRACKET_BOUNDS_MIN = 10;
const REFINE_BOUNDS_MIN = RUN_BOUNDS_MIN;
/** A bracket this narrow is left to the curve. */
const BRACKET_RATIO = 1.3;
/** Largest share of all screening time for one bracket step. */
const BRACKET_TIME_SHARE = 0.1;
const BRACKET_CONFIDENCE = 0.99;
/**
 * Confidence for an early end while narrowing: only probes far from the limit end early; near it,
 * long probes are worth most.
 */
const REFINE_CONFIDENCE = 0.99999;
/**
 * Share of the queries that the interval still needs, made by one screening: the next one is better
 * placed.
 */
const REFINE_SHARE = 0.5;
/** Utilisation of a server with one query at a time below which a load counts as no load. */
const UTILISATION_MIN = 0.005;
/** Fewest late queries that a step down expects, if the late share is at its limit. */
const LATE_EXPECTED_MIN = 1;
/**
 * Number of probes at one load at which LoadGen must be too slow to be its limit; and number for a
 * higher load at which it was fast enough.
 */
const BOUND_TIMES = 2;
const BOUND_TIMES_UNLIKELY = 4;
/** Share of all screening time spent on loads that LoadGen does not reach. */
const BOUND_TIME_SHARE = 0.5;
/** Relative distance from the limit within which probes count as near. */
export const NEAR = 0.2;
/** Relative difference up to which two loads count as the same. */
const SAME_LOAD = 0.01;

/** Computes the state of a search for a rate from its probes. */
export function searchState(search: PacedSearch, probes: readonly PeakProbe[]) {
  const screenings = probes.filter(({ kind }) => kind === 'screening');
  const fulls = probes.filter(({ kind }) => kind === 'full');
  const loaded = [...screenings, ...fulls];
  /**
   * Load at which samples were lost or LoadGen was too slow: the limit is at most that, whatever
   * latencies show.
   */
  const cap = capOf(loaded);
  const heavy = screenings
    .filter((probe) => looksOf(search, probe) === 'heavy')
    .map(({ load }) => load);
  const hasLateLoad = heavy.length > 0;
  if (cap !== undefined) heavy.push(cap.load);
  // The limit lies between light and heavy loads tried; undefined without one of either kind.
  const high = heavy.length === 0 ? undefined : Math.min(...heavy);
  const light = screenings
    .filter((probe) => looksOf(search, probe) === 'light' && probe.load < (high ?? Infinity))
    .map(({ load }) => load);
  const low = light.length === 0 ? undefined : Math.max(...light);
  const unloaded = probes.find(({ kind }) => kind === 'unloaded');
  // Without a load with late queries the limit is unknown.
  const isBracketed =
    hasLateLoad && low !== undefined && high !== undefined && high / low <= CURVE_RATIO;
  let fits: readonly BoundFit[] | undefined;
  /** The limit of each bound alone, without bounds whose limit is far from that of the load. */
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
  /** Undefined if latencies show no limit. */
  const curve = (): LoadCurve | undefined => {
    const curves = fitted().map((fit) => fit.curve);
    if (curves.length > 0) joint ??= jointCurve(curves, search.confidence);
    return joint;
  };
  return { low, high, cap, curve, fitted, screenings, fulls };
}

type SearchState = ReturnType<typeof searchState>;

/** The next step of a search for a rate; it follows from the probes alone. */
export function nextRateStep(requested: LoadSearch, probes: readonly PeakProbe[]): NextStep {
  const search = pacedSearch(requested, probes);
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

/** The lowest load at which something other than latency ended a probe. */
function capOf(loaded: readonly PeakProbe[]): PeakProbe | undefined {
  const broken = loaded.filter(
    (probe) =>
      probe.verdict === 'lost' ||
      (probe.verdict === 'generator-bound' && isBound(loaded, probe.load)),
  );
  return broken.sort((a, b) => a.load - b.load)[0];
}

/**
 * True if LoadGen is the limit at a load. It may be disturbed: a real limit shows again at the same
 * load, and no higher load succeeds. After two such results without success, one probe is enough
 * for each lower load.
 */
function isBound(loaded: readonly PeakProbe[], load: number): boolean {
  const count = loaded.filter(
    (probe) => probe.verdict === 'generator-bound' && Math.abs(probe.load / load - 1) <= SAME_LOAD,
  ).length;
  // LoadGen was fast enough. A probe that ended because its backlog grew was not judged.
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
 * Classifies a probe by its verdict, or if that is undecided, by its late queries. Undefined if it
 * does not decide about the bound.
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
  // A limit that is not the SUT's is not worth more than the announced time.
  if (isCapped && timeLeftNs(search, screenings) <= 0) return undefined;
  const ratio = isCapped ? 1 + search.precision : BRACKET_RATIO;
  if (high / low <= ratio) return undefined;
  return { probe: bracketStep(search, Math.sqrt(low * high)) };
}

/**
 * Next step if every load so far was too heavy, `high` the lightest of them; `isOfLoadgen`: LoadGen
 * was too slow for it.
 */
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
  // Fewer queries than needed to expect one late query give no verdict, and full runs would take
  // hours.
  const isTooSlow =
    (step.load * step.durationNsMax) / 1e9 < LATE_EXPECTED_MIN / (1 - search.percentile);
  if (!isIdle && !isTooSlow) return { probe: step };
  // With few queries of a slow SUT lateness may be chance: the load is then undecided.
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

/** Number of queries arriving during `bounds` times the bound. */
function queriesOfBounds({ paceNs }: PacedSearch, load: number, bounds: number): number {
  return (load * paceNs * bounds) / 1e9;
}

/** Remaining time for screenings, in ns. */
function timeLeftNs({ screeningNsMax }: LoadSearch, screenings: readonly PeakProbe[]): number {
  return screenings.reduce((leftNs, { durationNs }) => leftNs - durationNs, screeningNsMax);
}

/** A screening at the estimate; undefined if the interval is narrow enough, or the time is over. */
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
  // The remaining time is not worth a probe.
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
 * True if a screening near the limit was long enough to show a queue that is a fiftieth too slow;
 * bracket steps may be too short.
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

/** A run of the round's full length at a load. */
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

/** Without a limit by latencies there is no curve: the highest light load is confirmed. */
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
