import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs } from '../../../shared/base/text.ts';
import { type ResolvedSetting, saidKeys } from '../../../shared/config/resolve-settings.ts';
import {
  choice,
  count,
  duration,
  flagOf,
  percentile,
  positiveDuration,
  type SettingValues,
  toggle,
} from '../../../shared/config/setting.ts';
import { SCENARIOS } from '../../../shared/domain/scenario.ts';
import { SERVER_RUNS_V05 } from '../../loadgen/engine/test-outcome.ts';
import { leastQueries } from '../../loadgen/results/early-stopping.ts';
import { namedBounds } from '../../loadgen/settings/query-bounds.ts';
import { openAuditConfig } from '../../run/plan/conf-files.ts';
import { DEPARTURE_KEYS, refuseDepartures } from '../../run/plan/departures.ts';
import { refuseCppEngine } from '../../run/plan/run-engine.ts';
import { planRun, type RunPlan } from '../../run/plan/run-plan.ts';
import { runRecord } from '../../run/plan/run-record.ts';
import { RUN_SETTINGS, type RunValues } from '../../run/plan/run-settings.ts';
import { longEnough } from './pace.ts';
import type { LoadSearch } from './peak-search.ts';
import { boundsOf } from './run-probes.ts';

/** Most queries that a run plans in memory. */
const QUERIES_MAX = 2 ** 25;
/** MultiStream: largest number of samples per query. */
const STREAMS_MAX = 65_536;
/** Least time allowed for all screenings, in ns. */
const SEARCH_NS_MIN = 120e9;

/**
 * Makes the plan of a search from the settings.
 * @throws MlperfError `ERR_CONFIG_INVALID` and errors of {@link planRun}
 */
export function planFindPeak(
  values: FindPeakValues,
  settings: readonly ResolvedSetting[],
): FindPeakPlan {
  refuseOfRun(values, {
    verb: 'find-peak',
    parts: 'probes of a search',
    bounds:
      "the runs of a search are judged by the scenario's own rules, and its load by its bounds",
    whose: 'a search is of',
  });
  const { scenario } = values;
  const bound = oneOf(values, 'latency', 'targetLatency');
  const percentile = oneOf(values, 'percentile', 'targetLatencyPercentile');
  const isInterval = scenario === 'MultiStream' && values.round === 'v0.5';
  const isSearched = scenario === 'Server' || isInterval;
  if (!isSearched) {
    refuseCppEngine(
      values,
      `${scenario} has no load to search, and longhaul run measures its metric`,
    );
  }
  const joined = {
    ...values,
    targetQps: rateOf(values.targetQps, bound, isInterval),
    targetLatency: bound,
    targetLatencyPercentile: percentile,
    // Decided per load, not in the plan.
    runs: undefined,
    // A search decides the length of its runs itself.
    extendUntilDecided: values.extendUntilDecided ?? false,
  };
  const planned = planOfSearch(joined, settings);
  const search = isSearched ? searchOf(values, planned) : null;
  // With fewer queries early stopping cannot decide: at low rates no run would be VALID.
  const { minQueryCount, minDurationNs } = search?.full ?? {
    minQueryCount: planned.settings.minQueryCount,
    minDurationNs: planned.settings.minDurationMs * 1e6,
  };
  const minDurationMs = Math.ceil(minDurationNs / 1e6);
  const isLonger = minDurationMs > planned.settings.minDurationMs;
  const run = {
    ...planned,
    settings: { ...planned.settings, minQueryCount, minDurationMs },
    lengthNote: undefined,
  };
  // Values that the search sets instead of the user, as setting texts; undefined: unchanged.
  const raws = {
    ...boundRaws(settings, isInterval),
    ...(isInterval && { targetQps: joined.targetQps }),
    minQueryCount,
  };
  const loadKey = isInterval ? 'samplesPerQuery' : 'targetQps';
  return {
    run,
    search,
    note: search === null ? undefined : noteOf(search, values, isLonger),
    recordOf: (load, lastsMs = minDurationMs) => {
      const minDuration = lastsMs > planned.settings.minDurationMs ? `${lastsMs}ms` : undefined;
      return runRecord(recorded(settings, { ...raws, minDuration, [loadKey]: load }));
    },
  };
}

/** Plans a run of a search; load and bound, which the search sets, count as explicit. */
export function planOfSearch(values: RunValues, settings: readonly ResolvedSetting[]): RunPlan {
  const said = new Set(saidKeys(settings));
  for (const key of ['targetQps', 'targetLatency', 'targetLatencyPercentile'] as const) {
    if (values[key] !== undefined) said.add(key);
  }
  return planRun(values, {
    said,
    audit: openAuditConfig(values.auditConf),
    latencyFlag: '--latency',
  });
}

/** A requested search: how to make its runs, and what to search. */
export interface FindPeakPlan {
  /** Run plan for any load; its own rate is never measured. */
  readonly run: RunPlan;
  /** Null: the scenario's metric needs no search. */
  readonly search: LoadSearch | null;
  /** Text on durations that the search extends beyond the request; undefined if none. */
  readonly note: string | undefined;
  /** Text of `longhaul_run.yaml` for a run at a load. */
  readonly recordOf: (load: number, lastsMs?: number) => string;
}

/** The searched rate; at fixed intervals the bound is the interval. */
function rateOf(
  targetQps: number | undefined,
  bound: number | undefined,
  isInterval: boolean,
): number | undefined {
  if (!isInterval) return targetQps ?? 1;
  return bound === undefined ? targetQps : 1e9 / bound;
}

/**
 * Refuses run settings that a search does not support. Its words: the verb, what it makes, what
 * bounds it, and who has MLPerf scenarios.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function refuseOfRun(
  { mode, thresholds, dashboard, metricsListen, otel, ...values }: Omit<RunValues, 'benchmark'>,
  { verb, parts, bounds, whose }: Readonly<Record<'verb' | 'parts' | 'bounds' | 'whose', string>>,
): void {
  const refused: readonly (readonly [boolean, string, string])[] = [
    [mode !== 'performance', `--mode ${mode}`, `${verb} makes performance runs only`],
    [thresholds !== undefined, '--threshold', bounds],
    [dashboard !== undefined, '--dashboard', `the ${parts} are not shown`],
    [metricsListen !== undefined, '--metrics-listen', `the ${parts} are not shown`],
    [otel, '--otel', `the ${parts} are not exported`],
  ];
  for (const [isAsked, flag, why] of refused)
    if (isAsked) throw configInvalid(`${flag} is for run: ${why}`);
  refuseDepartures(values, whose);
}

/** A value that has two names. */
export function oneOf<V extends object, K extends keyof V & string>(
  values: V,
  name: K,
  other: K,
): V[K] {
  const [one, two] = [values[name], values[other]];
  if (one === undefined || two === undefined || one === two) return one ?? two;
  throw configInvalid(
    `${flagOf(name)} and ${flagOf(other)} are the same, and say different things`,
  );
}

function searchOf(values: FindPeakValues, run: RunPlan): LoadSearch {
  const { settings, loadgen, round } = run;
  const isServer = settings.scenario === 'Server';
  const bounds = boundsOf(settings);
  for (const { name, ns } of namedBounds(bounds)) {
    if (!(ns > 0)) throw configInvalid(`--${name} must be longer than 0, it is ${formatNs(ns)}`);
  }
  const minDurationNs = settings.minDurationMs * 1e6;
  const least = loadgen.hasEarlyStopping ? leastQueries(bounds.percentile) : 1;
  const runs = values.runs ?? (round === 'v0.5' && isServer ? SERVER_RUNS_V05 : 1);
  const search = longEnough({
    kind: isServer ? 'rate' : 'streams',
    ...bounds,
    startLoad: isServer ? values.targetQps : undefined,
    loadMax: STREAMS_MAX,
    precision: values.precision,
    confidence: values.confidence,
    screeningNsMax: values.searchTime ?? Math.max(SEARCH_NS_MIN, minDurationNs),
    full: {
      runs,
      minDurationNs,
      ...(settings.maxDurationMs > 0 && { durationNsMax: settings.maxDurationMs * 1e6 }),
      minQueryCount: Math.max(settings.minQueryCount, least),
      hasEarlyStopping: loadgen.hasEarlyStopping,
      loadsMax: values.confirmLoads,
    },
  });
  const leastNs = search.full.minDurationNs;
  const mostNs = settings.maxDurationMs * 1e6;
  // A run ended by --max-duration is INVALID if too short: refuse it before the search.
  if (mostNs > 0 && mostNs < leastNs)
    throw configInvalid(
      `--max-duration ${formatNs(mostNs)} is too short: a full run under a bound of ${formatNs(search.boundNs)} lasts ${formatNs(leastNs)} or more`,
    );
  if (!isServer) return search;
  return { ...search, loadMax: QUERIES_MAX / Math.max(1, search.full.minDurationNs / 1e9) };
}

function noteOf(
  { boundNs, full, screeningNsMax }: LoadSearch,
  { searchTime }: FindPeakValues,
  isLonger: boolean,
): string | undefined {
  const longer = [
    ...(isLonger ? [`full runs last ${formatNs(full.minDurationNs)}`] : []),
    ...(searchTime !== undefined && screeningNsMax > searchTime
      ? [`screenings may take ${formatNs(screeningNsMax)} together`]
      : []),
  ];
  if (longer.length === 0) return undefined;
  return `${longer.join(' and ')}, longer than requested: under a bound of ${formatNs(boundNs)} a shorter run can end before a queue that grows shows`;
}

/** The settings in the form of `longhaul run`, including those that the search sets. */
function recorded(
  settings: readonly ResolvedSetting[],
  raws: Readonly<Record<string, unknown>>,
): ResolvedSetting[] {
  return settings
    .filter(({ key }) => Object.hasOwn(RUN_SETTINGS, key))
    .map((setting) => {
      const raw = raws[setting.key];
      return raw === undefined || raw === setting.raw
        ? setting
        : { key: setting.key, raw, source: 'find-peak' };
    });
}

/**
 * The bound as the user wrote it, under `longhaul run`'s names; at fixed intervals the rate is the
 * bound.
 */
function boundRaws(
  settings: readonly ResolvedSetting[],
  isInterval: boolean,
): Readonly<Record<string, unknown>> {
  const rawOf = (key: string): unknown => settings.find((one) => one.key === key)?.raw;
  const targetLatencyPercentile = rawOf('percentile') ?? rawOf('targetLatencyPercentile');
  if (isInterval) return { targetLatencyPercentile };
  return { targetLatencyPercentile, targetLatency: rawOf('latency') ?? rawOf('targetLatency') };
}

/** Settings of `longhaul find-peak`: those of a run, and those of the search. */
export const FIND_PEAK_SETTINGS = {
  ...RUN_SETTINGS,
  scenario: choice(
    SCENARIOS,
    'Server: queries per second are searched; MultiStream of v0.5: streams',
    { fallback: 'Server' },
  ),
  engine: {
    ...RUN_SETTINGS.engine,
    help: 'LoadGen that issues the queries: longhaul, or in Server cpp: your own C++ LoadGen (longhaul loadgen link)',
  },
  targetQps: {
    ...RUN_SETTINGS.targetQps,
    help: 'Server: rate at which the search begins; Offline: expected rate',
  },
  latency: positiveDuration("latency bound, as --target-latency (default: the benchmark's)"),
  percentile: percentile(
    "percentile at which it holds, as --target-latency-percentile (default: 99, or the benchmark's)",
  ),
  minDuration: {
    ...RUN_SETTINGS.minDuration,
    help: 'shortest full run (MLPerf submissions: 600s)',
  },
  precision: percentile('half width of the interval that screenings go for, in percent', {
    fallback: 2,
  }),
  confidence: percentile('how sure the interval is, in percent', { fallback: 95 }),
  searchTime: duration(
    'time of all screenings together, 200 latency bounds at least (default: that of the shortest full run, but 2m at least)',
  ),
  confirmLoads: count({ min: 1, max: 50 }, 'loads at which full runs are made at most', {
    fallback: 8,
  }),
  keepProbes: toggle('screenings keep their logs, in probe-N'),
  resume: toggle('go on with the search in --output that was broken off'),
};

/** Settings shown first in the help of searching verbs. */
export const SEARCH_KEYS: readonly string[] = [
  'sut',
  'benchmark',
  'scenario',
  'latency',
  'percentile',
  'ttft',
  'tpot',
  'output',
  'force',
  'resume',
  'round',
  'minDuration',
  'searchTime',
  'precision',
  'confirmLoads',
];

/** Run settings omitted from a search's help: refused, or under another name. */
export const NOT_OF_SEARCH: readonly string[] = [
  ...DEPARTURE_KEYS,
  ...['mode', 'thresholds'],
  ...['targetLatency', 'targetLatencyPercentile', 'otel', 'otelSample'],
  ...['dashboard', 'metricsListen'],
];

/** Heading of the remaining flags. */
export const RUN_HEADING = 'Options of each run, as in "longhaul run":';

/** Effective values of {@link FIND_PEAK_SETTINGS}. */
export type FindPeakValues = SettingValues<typeof FIND_PEAK_SETTINGS>;
