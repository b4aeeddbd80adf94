import { at } from '../../../shared/base/at.ts';
import type { BoundName, QueryBound } from '../../loadgen/settings/query-bounds.ts';
import { measuredLoad } from './full-runs.ts';
import { type CurvePoint, fitLoadCurve, type LoadCurve } from './load-curve.ts';
import type { PacedSearch } from './pace.ts';
import type { LoadSearch, PeakProbe, ProbeBound } from './peak-search.ts';

/** Widest bracket from which a curve can be fitted. */
export const CURVE_RATIO = 2.1;

/** Limit of the load by one bound. */
export interface BoundFit {
  readonly name: BoundName;
  readonly curve: LoadCurve;
}

/** Undefined if the bound's limit is not between two loads close to each other. */
export function fitBound(
  search: PacedSearch,
  { bound, i }: { readonly bound: QueryBound; readonly i: number },
  {
    screenings,
    fulls,
    cap,
    unloaded,
  }: Readonly<Record<'screenings' | 'fulls', readonly PeakProbe[]>> &
    Readonly<Record<'cap' | 'unloaded', PeakProbe | undefined>>,
): LoadCurve | undefined {
  const looks = screenings.map((probe) => ({
    load: probe.load,
    look: boundLooks(search, probe, i),
  }));
  const heavy = looks.filter(({ look }) => look === 'heavy').map(({ load }) => load);
  if (heavy.length === 0) return undefined;
  const high = Math.min(...heavy, cap?.load ?? Number.POSITIVE_INFINITY);
  const light = looks
    .filter(({ look, load }) => look === 'light' && load < high)
    .map(({ load }) => load);
  const low = Math.max(0, ...light);
  if (high / low > CURVE_RATIO) return undefined;
  const unloadedNs = unloaded?.bounds[i]?.percentileNs ?? 0;
  const { percentile, confidence } = search;
  const isTpot = bound.name === 'tpot';
  const question = {
    boundNs: bound.ns,
    percentile,
    confidence,
    unloadedNs,
    averagedNs: isTpot ? search.answerNs : 0,
  };
  return fitLoadCurve(curvePoints(screenings, fulls, i), { low, high }, question);
}

/**
 * Classifies probes by one bound alone. If queries only waited at the end, the first bound counts
 * as missed.
 */
export function boundLooks(
  { percentile }: LoadSearch,
  { verdict, bounds, queries }: PeakProbe,
  i: number,
): 'heavy' | 'light' | undefined {
  if (verdict === 'keeps') return 'light';
  if (verdict !== 'misses' && (verdict !== 'undecided' || queries === 0)) return undefined;
  const isOver = (bound: ProbeBound | undefined): boolean =>
    bound !== undefined && bound.overQueries / queries > 1 - percentile;
  if (isOver(bounds[i])) return 'heavy';
  return verdict === 'misses' && i === 0 && !bounds.some(isOver) ? 'heavy' : 'light';
}

/** The probes as seen by one bound's curve. */
function curvePoints(
  screenings: readonly PeakProbe[],
  fulls: readonly PeakProbe[],
  i: number,
): readonly CurvePoint[] {
  const hasLatencies = ({ verdict, queries }: PeakProbe): boolean =>
    queries > 0 && (verdict === 'keeps' || verdict === 'misses' || verdict === 'undecided');
  const point = (probe: PeakProbe, load: number, copies: number): CurvePoint => {
    const { queries, bounds, growth } = probe;
    const { overQueries: over, varianceFactor } = at(bounds, i);
    // A growing queue shows in at least one bound: the one that more queries miss.
    const isWorst = bounds.every(({ overQueries }) => overQueries <= over);
    const hasGrown = growth !== null && isWorst;
    return { load, queries, over, varianceFactor, copies, hasGrown };
  };
  const whole = fulls.filter(hasLatencies);
  return [
    ...screenings.filter(hasLatencies).map((probe) => point(probe, probe.load, 1)),
    // All full runs have the arrivals of the round's seeds: together they carry the information of
    // one, at the load that resulted.
    ...whole.map((probe) => point(probe, measuredLoad(probe), whole.length)),
  ];
}
