import { at } from '../../../shared/base/at.ts';
import { minPassingQueries } from '../../loadgen/results/early-stopping.ts';
import type { LoadCurve } from './load-curve.ts';
import { type FullRunRule, type LoadSearch, type PeakProbe, worstShare } from './peak-search.ts';

/** Smallest step down after a full run that failed. */
const STEP_DOWN_MIN = 0.005;
/** The first full run: so many standard deviations of its own luck on the safe side. */
const FIRST_MARGIN = 0.5;
/**
 * Share of a step towards the bound that is made: the rest is luck that the next run may not have.
 */
const STEP_SHARE = 0.9;
/** A step up is made where it gains this share of the precision that was requested. */
const STEP_UP_MIN = 0.5;
/**
 * First step down where samples were lost or LoadGen was too slow: no curve says how far, so that
 * each further one is twice as long.
 */
const STEP_DOWN_BROKEN = 0.05;
const STEP_DOWN_BROKEN_MAX = 0.4;
/** Where LoadGen was too slow in every run, each step is four times as long, and so many loads tell that it is the limit. */
const GENERATOR_STEP_MAX = 0.7;
const GENERATOR_LOADS_MAX = 4;

/** Full runs at one load. */
interface TriedLoad {
  readonly load: number;
  readonly runs: readonly PeakProbe[];
  readonly state: 'passed' | 'failed' | 'begun';
}

/** Next full run, or the end of them. `done`: the best load that was confirmed stands. */
export type FullStep =
  | { readonly load: number }
  | { readonly done: 'confirmed' | 'unconfirmed' | 'invalid' };

/** Groups full runs by their load, in the order in which the loads were tried. */
export function triedLoads(fulls: readonly PeakProbe[], rule: FullRunRule): TriedLoad[] {
  const loads = [...new Set(fulls.map(({ load }) => load))];
  // Below a load at which LoadGen was too slow twice no run is repeated: full runs are
  // long.
  let isForgiven = true;
  return loads.map((load) => {
    const all = fulls.filter((probe) => probe.load === load);
    // LoadGen may be disturbed: the first such run does not count, and is made again.
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

/** The highest load that is confirmed; undefined: none is. */
export function confirmedLoad(
  fulls: readonly PeakProbe[],
  rule: FullRunRule,
): TriedLoad | undefined {
  const passed = triedLoads(fulls, rule).filter(({ state }) => state === 'passed');
  return passed.sort((a, b) => b.load - a.load)[0];
}

/** Load that a full run measured: that of its schedule, in the unit of the search. */
export function measuredLoad({ scheduledPerSecond, load }: PeakProbe): number {
  return scheduledPerSecond ?? load;
}

/** The next full run of a search for a rate. @param loadMax Not above. */
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

/** Share of the queries of a full run that may be late, by the round's rule. */
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
  // There is no second load after one that is the only one: it had better hold.
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
 * Below the lowest that failed: as far as its own share says, since the next run has the same
 * arrivals.
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
  // A little more: the slope is uncertain.
  const byShare = (Math.max(0, excess) * 1.1) / curve.slope;
  const byGrowth = Math.max(...lowest.runs.map(({ growth }) => growth ?? 0));
  const step = Math.max(byShare, byGrowth);
  return lowest.load * (1 - Math.min(0.3, Math.max(STEP_DOWN_MIN, step)));
}

function isOfGenerator({ runs }: TriedLoad): boolean {
  return runs.some(isGeneratorBound);
}

/** Something else than the latency ended it. */
function isBroken({ runs }: TriedLoad): boolean {
  return runs.some(({ verdict }) => verdict !== 'keeps' && verdict !== 'misses');
}

/** Above the best, where it pays; undefined: it does not. */
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
  // The curve is of measured loads; schedules of the round's seeds differ from what they are asked
  // for, all by the same share.
  const { load, scheduledPerSecond } = at(best.runs, 0);
  const askedPerMeasured = scheduledPerSecond === null ? 1 : load / scheduledPerSecond;
  const next = Math.min(wanted, ceiling, curve.interval.high * askedPerMeasured);
  return next >= best.load * (1 + search.precision * STEP_UP_MIN) ? next : undefined;
}

/** Largest share above a bound among the runs; half a query where none was. */
function worstOf({ runs }: TriedLoad): number {
  return Math.max(...runs.map(worstShare));
}
