import { counted, formatNs, grouped } from '../../../shared/base/text.ts';
import { wasLateForMoments } from '../../loadgen/engine/causes.ts';
import { isBrokenEnd } from '../../loadgen/engine/issue/issue-threads.ts';
import type {
  Cause,
  PerformanceOutcome,
  RunCourse,
  TestOutcome,
  VerdictReason,
} from '../../loadgen/engine/test-outcome.ts';
import { minPassingQueries, queriesToDecide } from '../../loadgen/results/early-stopping.ts';
import { disturbances, isThrottled } from '../../loadgen/results/generator-health.ts';
import type { PerformanceSummary } from '../../loadgen/results/summarize.ts';
import {
  type OtherArrivals,
  ownEndOf,
  ownRateOf,
} from '../../loadgen/schedule/arrivals/arrivals.ts';
import type { EffectiveSettings } from '../../loadgen/settings/effective-settings.ts';
import { boundsOfLanes } from '../../loadgen/settings/lanes.ts';
import type { BoundName } from '../../loadgen/settings/query-bounds.ts';
import { laneText } from './figure-text.ts';

/** longhaul's flags for the keys in LoadGen's rules; other keys are used unchanged. */
const FLAG_OF_LOADGEN_KEY: Readonly<Record<string, string>> = {
  min_duration_ms: '--min-duration',
  max_duration_ms: '--max-duration',
  min_query_count: '--min-query-count',
  max_query_count: '--max-query-count',
  server_target_qps: '--target-qps',
  server_target_latency_ns: '--target-latency',
  offline_expected_qps: '--target-qps',
  single_stream_expected_latency_ns: '--target-qps',
  multi_stream_expected_latency_ns: '--target-qps',
};

/** Rules on the length of a run. */
const LENGTH_RULES: readonly string[] = ['min-duration', 'min-queries', 'early-stopping'];

/** Reasons of a run without responses. */
const NOT_ANSWERED: readonly string[] = ['all-failed', 'lost-samples'];

/** Relative margin between an advised rate and the measured one. */
const MARGIN = 0.1;

/** Settings of a run that its advice depends on. */
interface AdvisedPlan {
  /** Undefined: LoadGen's own arrivals. */
  readonly arrivals?: OtherArrivals | undefined;
  /** True if the latency bound is only a default, not a requirement. */
  readonly isBoundUnsaid?: boolean;
  /** Length limits set by LoadGen's files, by LoadGen's key, as `user.conf:3`. */
  readonly limitLines?: Readonly<Record<'max_duration' | 'max_query_count', string | undefined>>;
}

/** Which setting to change, and by how much; empty if no setting helps. */
export function adviceOn(
  reason: VerdictReason,
  outcome: TestOutcome,
  plan: AdvisedPlan = {},
): string {
  const advice = adviceOnRule(reason, outcome, plan);
  if (!plan.isBoundUnsaid || reason.rule !== 'latency-bound') return advice;
  return `You set no bound, so longhaul's default holds: --target-latency sets yours. ${advice}`.trimEnd();
}

function adviceOnRule(
  reason: VerdictReason,
  outcome: TestOutcome,
  { arrivals, limitLines }: AdvisedPlan,
): string {
  const { performance, effectiveSettings: settings } = outcome;
  const ofEnd = adviceOnEnd(reason, outcome);
  if (ofEnd !== undefined) return ofEnd;
  // The full rates and lengths of a run that broke off are unknown; if every sample failed, the
  // cause is known.
  const endCause = performance?.endCause;
  if (endCause !== undefined && endCause !== 'all-failed' && isBrokenEnd(endCause)) return '';
  const ofArrivals =
    arrivals === undefined ? undefined : adviceOnArrivals(reason, performance, arrivals);
  if (ofArrivals !== undefined) return ofArrivals;
  if (performance?.summary.completedSampleCount === 0) {
    return !NOT_ANSWERED.includes(reason.rule)
      ? ''
      : 'No sample got a valid response, and no setting changes that: look at why the samples failed.';
  }
  // The requested minimums were in the settings, but the C++ LoadGen went by other settings.
  if (performance?.endCause === 'driver' && LENGTH_RULES.includes(reason.rule)) {
    return 'The C++ LoadGen stopped before the requested settings were met: look at the settings in its log.';
  }
  if (reason.rule === 'generator-bound') return adviceOnGenerator(performance, arrivals);
  const { cause } = outcome.verdicts.longhaul;
  const known =
    performance === null
      ? ''
      : specificAdvice(reason, performance, { settings, cause, limitLines });
  if (known !== '' || reason.key === null) return known;
  return `Look at ${FLAG_OF_LOADGEN_KEY[reason.key] ?? reason.key}.`;
}

/** Advice if the SUT broke or stopped answering; undefined for other reasons. */
function adviceOnEnd(
  { rule }: VerdictReason,
  { performance, accuracy }: TestOutcome,
): string | undefined {
  if (rule === 'stall') return '--stall-timeout sets how long LoadGen waits for a sample.';
  const isBroken = [performance, accuracy].some((phase) => phase?.endCause === 'fault');
  return rule === 'fault' && isBroken
    ? 'Look at the log of the SUT node, and at how it ended (exit status, out of memory): start it again before the next run.'
    : undefined;
}

/** Advice that follows from what slowed LoadGen. */
function adviceOnGenerator(
  performance: PerformanceOutcome | null,
  arrivals: OtherArrivals | undefined,
): string {
  const load = arrivals?.kind === 'closed-loop' ? '--concurrency' : 'load';
  const isThrottledNode = performance?.health ? isThrottled(performance.health) : false;
  const limit = "Raise the CPU limit of LoadGen's container or control group";
  if (performance !== null && wasLateForMoments(performance)) {
    const remedy = isThrottledNode
      ? limit
      : 'Repeat the run while nothing else uses the LoadGen node, or give it cores of its own';
    return `${remedy}: hardly a query waited for LoadGen, so a lower ${load} does not help.`;
  }
  if (isThrottledNode) return `${limit}, or take a lower ${load}.`;
  return `Give the LoadGen node a machine, or cores, of its own, or take a lower ${load}.`;
}

/** Advice if the arrivals decide rate or end, so that no setting of LoadGen does. */
function adviceOnArrivals(
  { rule }: VerdictReason,
  performance: PerformanceOutcome | null,
  arrivals: OtherArrivals,
): string | undefined {
  const isEndless = ownEndOf(arrivals) === undefined;
  const isAboutRate = rule === 'latency-bound';
  if (arrivals.kind === 'closed-loop') {
    if (isAboutRate) return 'Try a lower --concurrency.';
    return performance?.endCause === 'ran-out'
      ? 'More queries were answered than a closed loop plans: set a shorter --min-duration.'
      : undefined;
  }
  if (isAboutRate && ownRateOf(arrivals) !== undefined) {
    return arrivals.kind === 'step'
      ? 'The bound is compared with all steps together; the table of steps shows where it was missed.'
      : 'The load is that of --arrivals.';
  }
  if (isEndless) return undefined;
  return rule === 'early-stopping' ? 'How many queries there are, --arrivals decides.' : undefined;
}

function specificAdvice(
  { rule }: VerdictReason,
  performance: PerformanceOutcome,
  {
    settings,
    cause,
    limitLines: lines,
  }: {
    readonly settings: EffectiveSettings;
    readonly cause: Cause | null;
    readonly limitLines: AdvisedPlan['limitLines'];
  },
): string {
  switch (rule) {
    case 'early-stopping':
      return (
        adviceOnFewByStandstill(performance, cause) ||
        adviceOnEarlyStopping(performance, settings, lines)
      );
    case 'min-duration':
      return adviceOnLimit(performance, settings, lines) || adviceOnLength(performance, settings);
    case 'min-queries':
      return adviceOnLimit(performance, settings, lines);
    case 'not-kept-up':
    case 'latency-bound':
      return adviceOnRate(performance, settings, cause);
    default:
      return '';
  }
}

/** Advice if the bound was kept, and only a standstill's late samples require more queries. */
function adviceOnFewByStandstill(
  { course, summary }: PerformanceOutcome,
  cause: Cause | null,
): string {
  if (cause?.kind !== 'standstill' || !summary.keepsBounds) return '';
  const late = counted(course.keptStandstill?.lateSamples ?? 0, 'late sample');
  return `${asSentence(cause.text)}, and ${late} came of that: without them there are enough queries. Find out what held it up, and repeat the run.`;
}

function adviceOnEarlyStopping(
  performance: PerformanceOutcome,
  settings: EffectiveSettings,
  lines: AdvisedPlan['limitLines'],
): string {
  const { summary, durationNs } = performance;
  const { queryCount, overlatencyCount, validity } = summary;
  const percentile = settings.targetLatencyPercentile;
  const longer = (count: number): string => {
    const minQueryCount = Math.max(count, settings.minQueryCount);
    const limit = adviceOnLimit(performance, { ...settings, minQueryCount }, lines);
    const isServer = settings.scenario === 'Server';
    const perS = isServer ? settings.targetQps : queryCount / (durationNs / 1e9);
    // Both flags are lower bounds: a longer run has as many queries as a larger count.
    const lastingS = Math.ceil((count / perS) * (1 + MARGIN));
    return `set --min-query-count ${count}, or --min-duration ${lastingS}s. ${limit}`.trimEnd();
  };
  const advisedCount = (needed: number): string =>
    `Needs ${grouped(needed - queryCount)} more queries: ${longer(needed)}`;
  if (settings.scenario !== 'Server') return advisedCount(minPassingQueries(1, percentile) + 1);
  // The number of late queries is another reason; this count is too small even without any.
  if (!validity.performance.isMet) {
    const least = queriesToDecide('Server', percentile);
    return `Even with none above the bound it takes ${grouped(least)} queries: ${longer(least)}`;
  }
  // The bounds are on tokens then; the counts below are of slow queries, which do not apply.
  if (summary.tokens !== null) {
    return advisedCount(queryCount + validity.earlyStopping.missingQueries);
  }
  const needed = minPassingQueries(overlatencyCount, percentile) + overlatencyCount;
  const lasting = queriesAtSameShare(overlatencyCount / queryCount, percentile, needed);
  const least = `Needs ${grouped(needed - queryCount)} more queries if all of them are within the bound`;
  // With so few slow queries, a run of this length is unlikely to contain another slow one.
  if (lasting === needed) return `${least}: ${longer(needed)}`;
  if (lasting === null)
    return `${least}; at this share of slow ones more do not help: ${lowerRate(settings, MARGIN)}`;
  return `${least}, about ${grouped(lasting - queryCount)} at this share of slow ones: ${longer(lasting)}`;
}

/** Size at which a run with this share of slow queries meets early stopping; null if none does. */
function queriesAtSameShare(share: number, percentile: number, from: number): number | null {
  let count = from;
  for (let round = 0; round < 60; round += 1) {
    const over = Math.ceil(share * count);
    const needed = minPassingQueries(over, percentile) + over;
    if (needed <= count) return count;
    if (needed > Number.MAX_SAFE_INTEGER / 4 || over > 1e7) return null;
    count = Math.max(needed, Math.ceil(count * 1.01));
  }
  return null;
}

/** Advice for a limit of longhaul that ended the run before its rules were met. */
function adviceOnLimit(
  { endCause, summary, durationNs }: PerformanceOutcome,
  settings: EffectiveSettings,
  lines: AdvisedPlan['limitLines'],
): string {
  if (endCause !== 'max-query-count' && endCause !== 'max-duration') return '';
  const perS =
    settings.scenario === 'Server' ? settings.targetQps : summary.queryCount / (durationNs / 1e9);
  const neededS = Math.max(settings.minDurationMs / 1e3, settings.minQueryCount / perS);
  const isDuration = endCause === 'max-duration';
  const seconds = Math.ceil(neededS * (1 + MARGIN));
  const queries = Math.ceil(Math.max(settings.minQueryCount, neededS * perS * (1 + MARGIN)));
  const [flag, key] = isDuration
    ? (['--max-duration', 'max_duration'] as const)
    : (['--max-query-count', 'max_query_count'] as const);
  const value = isDuration ? `${seconds}s` : queries;
  const line = lines?.[key];
  if (line === undefined) return `${flag} ended the run: set it to ${value} or leave it out.`;
  // LoadGen's files use ms. A flag overrides them.
  const inFile = isDuration ? seconds * 1e3 : queries;
  return `${key} in ${line} ended the run: set it to ${inFile} there, or ${flag} ${value}.`;
}

/** Advice for a run that ran out of queries before its time was over. */
function adviceOnLength(
  { summary, durationNs }: PerformanceOutcome,
  { scenario }: EffectiveSettings,
): string {
  if (scenario === 'Server') return '';
  const count = scenario === 'Offline' ? summary.completedSampleCount : summary.queryCount;
  const perS = Math.ceil((count / (durationNs / 1e9)) * (1 + MARGIN));
  const what = scenario === 'Offline' ? 'samples' : 'queries';
  return `The SUT does more ${what} per second than was expected: set --target-qps ${perS}.`;
}

function adviceOnRate(
  performance: PerformanceOutcome,
  settings: EffectiveSettings,
  cause: Cause | null,
): string {
  if (settings.scenario !== 'Server') return '';
  const { summary, course, health } = performance;
  const kind = cause?.kind;
  const ofEvent = adviceOnEvent(cause, course);
  if (ofEvent !== undefined) return ofEvent;
  const empty = summary.lanes.find(({ completedSamples }) => completedSamples === 0);
  if (empty !== undefined) return `A longer run has completed samples of lane ${empty.name}, too.`;
  const outOfReach = adviceOnFastest(summary, kind !== 'queue');
  if (outOfReach !== '') return outOfReach;
  if (kind === 'queue') {
    const { answeredPerSecond = 0 } = course.keepingUp ?? {};
    const share = 1 - (answeredPerSecond / settings.targetQps) * (1 - MARGIN);
    const lower = lowerRate(settings, share);
    if (summary.keepsBounds) return asSentence(lower);
    return `To keep up at all, ${lower} What keeps the bound as well, longhaul find-peak tells.`;
  }
  if (kind === 'disturbed' && health !== null) {
    return `LoadGen's machine was disturbed (${disturbances(health).join('; ')}): repeat the run without that before you judge the SUT by it.`;
  }
  if (course.late?.areBehindOthers === false) {
    return 'The late queries did not wait behind others: the SUT needs that long for some of them, and a lower --target-qps may not help.';
  }
  const late = summary.lanes.reduce((sum, { lateSamples }) => sum + lateSamples, 0);
  const mostAreSlow = late > summary.completedSampleCount / 2;
  if (summary.tokens === null && mostAreSlow) {
    return 'Most queries are above the bound, though the SUT completed what was asked: longhaul find-peak looks for the --target-qps that keeps it.';
  }
  return `Too close to what the SUT can do: ${lowerRate(settings, MARGIN)}`;
}

/** Advice for a cause unrelated to the load; undefined if the load may be the cause. */
function adviceOnEvent(cause: Cause | null, { late }: RunCourse): string | undefined {
  // Failed samples come first; the cause of slow ones is then unknown.
  if (cause?.kind === 'errors') return '';
  if (cause?.kind === 'shared') {
    return `${asSentence(cause.text)}: repeat the run while nothing else uses the SUT.`;
  }
  if (cause?.kind !== 'standstill') return undefined;
  const samples = counted(late?.standstill?.lateSamples ?? 0, 'late sample');
  return `${asSentence(cause.text)}, and ${samples} came of that: find out what held it up. A lower --target-qps does not mend it.`;
}

function asSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Advice on a bound that no sample kept; empty if each bound was kept by some. */
function adviceOnFastest({ lanes }: PerformanceSummary, keepsUp: boolean): string {
  const bound = boundsOfLanes(lanes).find(
    // If queries queue up, even the first query's tokens may be slower than at a lower rate.
    ({ name, ns, leastNs }) => leastNs > ns && (keepsUp || name !== 'tpot'),
  );
  if (bound === undefined) return '';
  const { name, ns, leastNs, lane } = bound;
  const [what, flag] = FASTEST[name];
  return (
    `Even the ${what} ${formatNs(leastNs)}, above the bound of ${formatNs(ns)}${laneText(lane)}: ` +
    `no --target-qps helps, a faster SUT does (or ${flag}, which is another measurement).`
  );
}

/** Text before the shortest time, and the flag of its bound. */
const FASTEST: Readonly<Record<BoundName, readonly [what: string, flag: string]>> = {
  latency: ['fastest query took', '--target-latency'],
  ttft: ['shortest TTFT was', '--ttft'],
  tpot: ['shortest TPOT was', '--tpot'],
};

function lowerRate({ targetQps }: EffectiveSettings, share: number): string {
  const lower = Number((targetQps * Math.max(1 - share, MARGIN)).toPrecision(3));
  return `try a lower --target-qps, for example ${lower}.`;
}
