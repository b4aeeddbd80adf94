import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import { pick, type SettingValues, toggle } from '../../../shared/config/setting.ts';
import type { BoundTimes } from '../../loadgen/settings/query-bounds.ts';
import { refuseCppEngine } from '../../run/plan/run-engine.ts';
import type { RunPlan } from '../../run/plan/run-plan.ts';
import { CONCURRENCY_MAX, RUN_SETTINGS } from '../../run/plan/run-settings.ts';
import {
  FIND_PEAK_SETTINGS,
  NOT_OF_SEARCH,
  oneOf,
  planOfSearch,
  refuseOfRun,
} from '../peak/find-peak-plan.ts';
import { boundsOf } from '../peak/run-probes.ts';
import { loadList } from './parse-loads.ts';

/** Largest rate in queries per second. */
const RATE_MAX = 1e9;
/** Warm-up before the first point, in ns. */
const WARM_UP_NS = 2e9;
/** Most queries that a point plans in memory. */
const QUERIES_MAX = 2 ** 25;

/** Settings of `longhaul curve`: those of a run, and the loads. */
export const CURVE_SETTINGS = {
  ...RUN_SETTINGS,
  ...pick(FIND_PEAK_SETTINGS, 'latency', 'percentile', 'engine'),
  qps: loadList(
    { max: RATE_MAX, isWhole: false },
    'queries per second, one point each, with Poisson arrivals (default: found by doubling)',
  ),
  concurrency: loadList(
    { max: CONCURRENCY_MAX, isWhole: true },
    'queries at a time, one point each: a closed loop, division open',
  ),
  minDuration: { ...RUN_SETTINGS.minDuration, help: 'time of each point' },
  minQueryCount: {
    ...RUN_SETTINGS.minQueryCount,
    help: 'fewest queries of a point with --qps: low rates take longer',
  },
  keepProbes: toggle('points keep the logs of LoadGen, in probe-N'),
  resume: toggle('go on with the curve in --output that was broken off, or add loads to it'),
};

/** Settings shown first in the help. */
export const CURVE_KEYS: readonly string[] = [
  'sut',
  'benchmark',
  'qps',
  'concurrency',
  'latency',
  'percentile',
  'ttft',
  'tpot',
  'minDuration',
  'minQueryCount',
  'output',
  'force',
  'resume',
  'keepProbes',
];

/** Run settings omitted from a curve's help: refused, meaningless, or under another name. */
export const NOT_OF_CURVE: readonly string[] = [
  ...NOT_OF_SEARCH.filter((key) => key !== 'concurrency'),
  ...['scenario', 'targetQps', 'samplesPerQuery', 'maxQueryCount', 'runs', 'extendUntilDecided'],
];

/** Effective values of {@link CURVE_SETTINGS}. */
export type CurveValues = SettingValues<typeof CURVE_SETTINGS>;

/**
 * Plans a curve.
 * @throws MlperfError `ERR_CONFIG_INVALID` and errors of {@link planRun}
 */
export function planCurve(values: CurveValues, settings: readonly ResolvedSetting[]): CurvePlan {
  refuseSettings(values, settings);
  const { qps, concurrency, ...others } = values;
  const isClosedLoop = concurrency !== undefined;
  const joined = {
    ...others,
    concurrency: undefined,
    // The load of each point is set later.
    targetQps: 1,
    targetLatency: oneOf(values, 'latency', 'targetLatency'),
    targetLatencyPercentile: oneOf(values, 'percentile', 'targetLatencyPercentile'),
    // A closed loop is not an MLPerf scenario, and no division has rules on it.
    ...(isClosedLoop && { division: 'open' as const }),
  };
  const planned = planOfSearch(joined, settings);
  // Points have no minimum run to take a share of for the warm-up. The plan's rate is never
  // measured, so its length is meaningless.
  const run = { ...planned, warmUpNs: planned.warmUpNs ?? WARM_UP_NS, lengthNote: undefined };
  const durationNs = run.settings.minDurationMs * 1e6;
  const loads = concurrency ?? qps ?? null;
  const most = isClosedLoop ? 0 : Math.max(0, ...(qps ?? []));
  if ((most * durationNs) / 1e9 > QUERIES_MAX) {
    throw configInvalid(
      `--qps ${most} for ${durationNs / 1e9} s asks for more than the ${QUERIES_MAX} queries that a point plans: lower it, or --min-duration`,
    );
  }
  return {
    run,
    unit: isClosedLoop ? 'queries at a time' : 'queries/s',
    loads,
    ...boundsOf(run.settings),
    durationNs,
    minQueries: run.settings.minQueryCount,
    lagShareMax: run.generatorLagShareMax,
    rateMax: QUERIES_MAX / Math.max(1, durationNs / 1e9),
  };
}

/** A requested curve. */
export interface CurvePlan extends BoundTimes {
  /** Run plan for any load; its own rate is never measured. */
  readonly run: RunPlan;
  /** Unit of the loads. */
  readonly unit: 'queries/s' | 'queries at a time';
  /** Null: rates are found by doubling. */
  readonly loads: readonly number[] | null;
  /** Minimum duration in ns, and minimum queries, of each point. */
  readonly durationNs: number;
  readonly minQueries: number;
  /** LoadGen's own delay, as a share of latency, above which a point does not describe the SUT. */
  readonly lagShareMax: number;
  /** Largest rate whose queries can be planned. */
  readonly rateMax: number;
}

function refuseSettings(values: CurveValues, settings: readonly ResolvedSetting[]): void {
  const { scenario, qps, concurrency } = values;
  if (concurrency !== undefined) refuseCppEngine(values, 'it has no closed loop: use --qps');
  // Here --concurrency is a list of loads.
  refuseOfRun(
    { ...values, concurrency: undefined },
    {
      verb: 'curve',
      parts: 'points of a curve',
      bounds: '--latency, or --ttft and --tpot, are the bounds of a curve',
      whose: 'the rates of a curve have',
    },
  );
  if (scenario !== 'Server') {
    throw configInvalid(`curve steps the load of Server; ${scenario} has no load to step`);
  }
  if (qps !== undefined && concurrency !== undefined) {
    throw configInvalid('--qps and --concurrency: one curve steps one of them');
  }
  if (settings.some(({ key, raw }) => key === 'targetQps' && raw !== undefined)) {
    throw configInvalid('--target-qps is for run: curve takes its rates from --qps');
  }
}
