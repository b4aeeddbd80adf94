import { at } from '../../../shared/base/at.ts';
import { minPassingQueries } from '../../loadgen/results/early-stopping.ts';
import type { LoadCurve } from './load-curve.ts';
import { type FullRunRule, type LoadSearch, type PeakProbe, worstShare } from './peak-search.ts';

/** Smallest relative step down after a failed full run. */
const STEP_DOWN_MIN = 0.005;
/** Safety margin of the first full run, in standard deviations of its own chance. */
const FIRST_MARGIN = 0.5;
/**
 * Share of the calculated step towards the bound: the rest is chance that the next run may not
 * have.
 */
const STEP_SHARE = 0.9;
/** A step up is made if it gains at least this share of the requested precision. */
const STEP_UP_MIN = 0.5;
/**
 * First step down if samples were lost or LoadGen was too slow: no curve gives a distance, so each
 * further step is doubled.
 */
const STEP_DOWN_BROKEN = 0.05;
const STEP_DOWN_BROKEN_MAX = 0.4;
/**
 * Largest step if LoadGen was too slow in every run: each step is four times the last, and a few
 * loads show that LoadGen is the limit.
 */
const GENERATOR_STEP_MAX = 0.7;
const GENERATOR_LOADS_MAX = 4;

/** Full runs at one load. */
interface TriedLoad {
  readonly load: number;
  readonly runs: readonly PeakProbe[];
  readonly state: 'passed' | 'failed' | 'begun';
}

/** Next full run, or the end. `done`: the best confirmed load is final. */
export type FullStep =
  | { readonly load: number }
  | { readonly done: 'confirmed' | 'unconfirmed' | 'invalid' };

/** Full runs grouped by load, in the order tried. */
export function triedLoads(fulls: readonly PeakProbe[], rule: FullRunRule): TriedLoad[] {
  const loads = [...new Set(fulls.map(({ load }) => load))];
  // Below a load at which LoadGen was too slow twice, runs are not repeated: full runs are long.
  let isForgiven = true;
  return loads.map((load) => {
    const all = fulls.filter((probe) => probe.load === load);
    // LoadGen may be disturbed: the first such run does not count, and is repeated.
    const disturbed = isForgiven ? all.find(isGeneratorBound) : undefined;
    const runs = all.filter((probe) => probe !== disturbed);
    if (runs.some(isGeneratorBound)) isForgiven = false;
    const hasFailed = runs.some(({ verdict }) => verdict !== 'keeps');
    const isWhole = runs.length >= rule.runs;
    return { load, runs, state: hasFailed ? 'failed' : isWhole ? 'passed' : 'begun' };
  });
}

function isGeneratorBound({ verdict }: PeakProbe): boolean {
  return verdict === 'generator-bound';
}

/** The highest confirmed load; undefined if none. */
export function confirmedLoad(
  fulls: readonly PeakProbe[],
  rule: FullRunRule,
): TriedLoad | undefined {
  const passed = triedLoads(fulls, rule).filter(({ state }) => state === 'passed');
  return passed.sort((a, b) => b.load - a.load)[0];
}

/** Load that a full run actually had: that of its schedule, in the search's unit. */
export function measuredLoad({ scheduledPerSecond, load }: PeakProbe): number {
  return scheduledPerSecond ?? load;
}

/** The next full run of a search for a rate. @param loadMax Upper limit. */
export function nextFullRun(
  search: LoadSearch,
  curve: LoadCurve,
  fulls: readonly PeakProbe[],
  loadMax: number,
): FullStep {
  const rule = search.full;
  const tried = triedLoads(fulls, rule);
  if (fulls.some(({ verdict }) => verdict === 'invalid')) return { done: 'invalid' };
  const begun = tried.find(({ state }) => state === 'begun');
  if (begun !== undefined) return { load: begun.load };
  if (tried.length === 0) return { load: Math.min(loadMax, firstLoad(search, curve)) };
  const best = confirmedLoad(fulls, rule);
  const isOfLoadgen = tried.length >= GENERATOR_LOADS_MAX && tried.every(isOfGenerator);
  const isLast = tried.length >= rule.loadsMax || isOfLoadgen;
  if (best === undefined) {
    return isLast ? { done: 'unconfirmed' } : { load: stepDown(search, curve, tried) };
  }
  const higher = stepUp(search, curve, best, tried, loadMax);
  return isLast || higher === undefined ? { done: 'confirmed' } : { load: higher };
}

/** Share of late queries that a full run may have, by the round's rule. */
export function allowedShare(search: LoadSearch, load: number): number {
  const { percentile, full } = search;
  const queries = Math.max(full.minQueryCount, (load * full.minDurationNs) / 1e9);
  const late = 1 - percentile;
  if (!full.hasEarlyStopping) return late;
  let low = 0; // Allowed, if anything is.
  let high = Math.ceil(queries * late) + 1;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (queries >= minPassingQueries(middle, percentile) + middle) low = middle;
    else high = middle;
  }
  return Math.max(low, 0.5) / queries;
}

function firstLoad(search: LoadSearch, curve: LoadCurve): number {
  const { slope, varianceFactor } = curve;
  // With a single load there is no second chance, so choose a safe one.
  const isOnly = search.full.loadsMax === 1;
  const estimate = isOnly ? (curve.interval.low + curve.estimate) / 2 : curve.estimate;
  const allowed = allowedShare(search, estimate);
  const { minQueryCount, minDurationNs } = search.full;
  const queries = Math.max(minQueryCount, (estimate * minDurationNs) / 1e9);
  const luck = Math.min(1, Math.sqrt(varianceFactor / (queries * allowed)));
  const shift = (Math.log(allowed / (1 - search.percentile)) - FIRST_MARGIN * luck) / slope;
  return estimate * Math.max(0.5, 1 + shift);
}

/**
 * Load below the lowest failed one, by the distance that its own share of late queries gives: the
 * next run has the same arrivals.
 */
function stepDown(search: LoadSearch, curve: LoadCurve, tried: readonly TriedLoad[]): number {
  const lowest = at(
    [...tried].sort((a, b) => a.load - b.load),
    0,
  );
  if (isBroken(lowest)) {
    const times = tried.filter(isBroken).length;
    const [factor, most] = tried.every(isOfGenerator)
      ? [4, GENERATOR_STEP_MAX]
      : [2, STEP_DOWN_BROKEN_MAX];
    const step = Math.min(most, STEP_DOWN_BROKEN * factor ** (times - 1));
    return lowest.load * (1 - step);
  }
  const excess = Math.log(worstOf(lowest) / allowedShare(search, lowest.load));
  // Slightly further, since the slope is uncertain.
  const byShare = (Math.max(0, excess) * 1.1) / curve.slope;
  const byGrowth = Math.max(...lowest.runs.map(({ growth }) => growth ?? 0));
  const step = Math.max(byShare, byGrowth);
  return lowest.load * (1 - Math.min(0.3, Math.max(STEP_DOWN_MIN, step)));
}

function isOfGenerator({ runs }: TriedLoad): boolean {
  return runs.some(isGeneratorBound);
}

/** True if something other than latency ended the runs. */
function isBroken({ runs }: TriedLoad): boolean {
  return runs.some(({ verdict }) => verdict !== 'keeps' && verdict !== 'misses');
}

/** Load above the best confirmed one, if it is worth a run; else undefined. */
function stepUp(
  search: LoadSearch,
  curve: LoadCurve,
  best: TriedLoad,
  tried: readonly TriedLoad[],
  loadMax: number,
): number | undefined {
  const room = Math.log(allowedShare(search, best.load) / worstOf(best));
  const wanted = best.load * (1 + Math.min(0.3, (room * STEP_SHARE) / curve.slope));
  const failed = tried.filter(({ state, load }) => state === 'failed' && load > best.load);
  const ceiling = Math.min(...failed.map(({ load }) => (best.load + load) / 2), loadMax);
  // The curve uses measured loads; all schedules from the round's seeds differ from the request by
  // the same share.
  const { load, scheduledPerSecond } = at(best.runs, 0);
  const askedPerMeasured = scheduledPerSecond === null ? 1 : load / scheduledPerSecond;
  const next = Math.min(wanted, ceiling, curve.interval.high * askedPerMeasured);
  return next >= best.load * (1 + search.precision * STEP_UP_MIN) ? next : undefined;
}

/** Largest share above a bound among the runs; half a query if there was none. */
function worstOf({ runs }: TriedLoad): number {
  return Math.max(...runs.map(worstShare));
}
