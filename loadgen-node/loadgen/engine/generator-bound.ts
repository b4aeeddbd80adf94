import { formatBeside, formatNs, grouped } from '../../../shared/base/text.ts';
import { transportWaitsNs } from '../recorder/recording.ts';
import type { LaneResult } from '../results/bound-verdicts.ts';
import { causesOfLateness, starvation } from '../results/generator-health.ts';
import { latencyStatistics, percentileOf } from '../results/latency-statistics.ts';
import type { Measurements } from '../results/measurements.ts';
import type { PerformanceSummary } from '../results/summarize.ts';
import { summarize } from '../results/summarize.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { boundsOfLanes } from '../settings/lanes.ts';
import { completedTimes, joinTimes } from './measurements.ts';
import type { IssuedSet } from './test-context.ts';
import type { DispatchFindings } from './test-outcome.ts';

/** Default share of the latency bound that p99 of the dispatch lag may reach. */
const LAG_SHARE_MAX_DEFAULT = 0.1;

/** A set and its results, as input for the judgement. */
export interface JudgedSet {
  readonly issued: IssuedSet;
  readonly measured: Measurements;
  readonly settings: EffectiveSettings;
  readonly summary: PerformanceSummary;
  /** Default: 0.1. */
  readonly lagShareMax: number | undefined;
}

/**
 * Judges whether LoadGen itself was late. Latency counts from the schedule, so a late LoadGen only
 * makes the SUT look worse; this reports when that happened, and why.
 */
export function judgeDispatch(judged: JudgedSet): DispatchFindings {
  const { recorder, health } = judged.issued;
  const lagsNs = recorder.dispatchLagsNs().sort();
  // Without completed samples there is no result that LoadGen could limit.
  const limit =
    judged.summary.completedSampleCount === 0
      ? null
      : (verdictFlip(judged) ?? largeLag(lagsNs, judged) ?? starved(judged));
  const causes = health === null ? [] : causesOfLateness(health);
  return {
    ...dispatchTimes([judged.issued]),
    isGeneratorBound: limit !== null,
    generatorBoundReason:
      limit === null ? '' : [limit.text, ...lateWords(judged), ...causes].join('; '),
    generatorLimit: limit && { needed: limit.needed, seen: limit.seen },
    isSutSlow: limit !== null && isSutSlow(judged, lagsNs),
    health,
  };
}

/** Dispatch lag and transport waits, over all parts of a run. */
export function dispatchTimes(
  parts: readonly IssuedSet[],
): Pick<DispatchFindings, 'dispatchLag' | 'transportWait'> {
  const allOf = (of: (part: IssuedSet) => Float64Array): Float64Array =>
    parts.map(of).reduce(joinTimes).sort();
  const waitsNs = allOf(({ recorder }) => transportWaitsNs(recorder.columns()));
  return {
    dispatchLag: latencyStatistics(allOf(({ recorder }) => recorder.dispatchLagsNs())),
    transportWait: waitsNs.length === 0 ? null : latencyStatistics(waitsNs),
  };
}

/** The limit that LoadGen exceeded, as text without full stop. */
interface GeneratorLimit {
  readonly text: string;
  readonly needed: string;
  readonly seen: string;
}

function verdictFlip(judged: JudgedSet): GeneratorLimit | null {
  const { settings, summary } = judged;
  // Only Server has both a schedule that LoadGen can miss and a bound.
  if (settings.scenario !== 'Server') return null;
  const fromIssue = summarizeFromIssue(judged);
  const [isKeptFromIssue, isKept] = [fromIssue, summary].map(
    (one) => one.isValid && one.keepsBounds,
  );
  if (isKeptFromIssue === isKept) return null;
  const what = summary.tokens === null ? 'latency' : 'TTFT';
  const flipped = summary.lanes.findIndex(({ bounds }, lane) =>
    bounds.some(({ isMet }, i) => isMet !== fromIssue.lanes[lane]?.bounds[i]?.isMet),
  );
  // Early stopping may flip although no bound does.
  const lane = Math.max(0, flipped);
  const [issueNs, scheduleNs] = [targetNs(fromIssue.lanes[lane]), targetNs(summary.lanes[lane])];
  const whose = summary.lanes.length === 1 ? '' : ` of lane ${summary.lanes[lane]?.name}`;
  const ofIssue = formatBeside(issueNs, scheduleNs);
  const ofSchedule = formatBeside(scheduleNs, issueNs);
  return {
    text:
      `the verdict would flip if ${what} were measured from the issue instead of the schedule ` +
      `(${ofIssue} instead of ${ofSchedule} at the target percentile${whose})`,
    needed: `${ofIssue} from the issue`,
    seen: `${ofSchedule} from the schedule`,
  };
}

/** Latency of a Server lane at its bound's percentile; for a token model, time to first token. */
function targetNs(lane: LaneResult | undefined): number {
  return lane?.bounds[0]?.valueNs ?? Number.NaN;
}

function summarizeFromIssue({ issued, measured, settings }: JudgedSet): PerformanceSummary {
  return summarize({ ...measured, ...completedTimes(issued, settings, true) }, settings, 0);
}

/** Text of the reason "dispatch lag too large". */
export const LARGE_LAG = 'queries went out late: p99 of the dispatch lag';

function largeLag(
  sortedLagsNs: Float64Array,
  { settings, lagShareMax }: JudgedSet,
): GeneratorLimit | null {
  const limit = lagLimit(settings, lagShareMax);
  const lagNs = percentileOf(sortedLagsNs, 0.99);
  if (limit === null || lagNs <= limit.ns) return null;
  return {
    text: `${LARGE_LAG} is ${formatNs(lagNs)}, more than ${formatNs(limit.ns)} (${limit.text})`,
    needed: `p99 of the dispatch lag of ${formatNs(limit.ns)} or less`,
    seen: formatNs(lagNs),
  };
}

/**
 * Largest p99 of the dispatch lag before LoadGen counts as too slow, and the time it is a share of;
 * null if the scenario has no schedule with a bound.
 */
export function lagLimit(
  { lanes, arrivalIntervalNs }: EffectiveSettings,
  lagShareMax = LAG_SHARE_MAX_DEFAULT,
): { readonly ns: number; readonly text: string } | null {
  // A late query delays its first token.
  const bounds = boundsOfLanes(lanes).filter(({ name }) => name !== 'tpot');
  const [bound] = bounds.sort((a, b) => a.ns - b.ns);
  if (bound === undefined && arrivalIntervalNs === 0) return null;
  // Round v0.5's MultiStream: a query must finish before the next one is due.
  const ns = bound?.ns ?? arrivalIntervalNs;
  const ofServer = bound?.name === 'ttft' ? 'TTFT bound' : 'latency bound';
  const percent = Number((lagShareMax * 100).toPrecision(3));
  const text = `${percent} % of the ${bound === undefined ? 'arrival interval' : ofServer} of ${formatNs(ns)}`;
  return { ns: ns * lagShareMax, text };
}

/** Share of late queries above which they are not listed apart. */
const FEW_LATE = 0.05;

/**
 * Text with the number of queries that went out too late and the worst of them; empty if there were
 * none or many.
 */
function lateWords({ issued, settings, lagShareMax }: JudgedSet): string[] {
  const limit = lagLimit(settings, lagShareMax);
  if (limit === null) return [];
  const { queryEnd, isIssued, scheduledNs, issuedNs } = issued.recorder.columns();
  const lagOf = (query: number): number =>
    (issuedNs[query] as number) - (scheduledNs[query] as number);
  let [all, late, worst] = [0, 0, -1];
  for (let query = 0; query < queryEnd; query += 1) {
    if (!isIssued(query)) continue;
    all += 1;
    if (lagOf(query) <= limit.ns) continue;
    late += 1;
    if (worst < 0 || lagOf(query) > lagOf(worst)) worst = query;
  }
  if (late === 0 || late > FEW_LATE * all) return [];
  const how = `by ${formatNs(lagOf(worst))}, due at ${formatNs(scheduledNs[worst] as number)}`;
  const which = late === 1 ? `query of ${grouped(all)} was` : `of ${grouped(all)} queries were`;
  return [`${grouped(late)} ${which} so late, ${late === 1 ? '' : 'the worst '}${how}`];
}

/**
 * LoadGen reads responses as late as it issues queries. If its lag is below this share of the
 * latencies, the rest is the SUT's.
 */
const LAG_OF_LATENCY_MAX = 0.1;

/**
 * True if the latencies still describe the SUT although LoadGen was too slow: LoadGen's own lag is
 * a small part of them.
 */
function isSutSlow(judged: JudgedSet, sortedLagsNs: Float64Array): boolean {
  if (judged.settings.scenario !== 'Server') return false;
  const latenciesNs = summarizeFromIssue(judged).lanes.map(targetNs);
  // A lane without completed samples has no latency.
  const shortestNs = Math.min(...latenciesNs.filter((ns) => !Number.isNaN(ns)));
  return percentileOf(sortedLagsNs, 0.99) <= LAG_OF_LATENCY_MAX * shortestNs;
}

/**
 * Scenarios without a schedule have no dispatch lag: only the health of LoadGen's process can be
 * judged.
 */
function starved({ issued, settings, summary, lagShareMax }: JudgedSet): GeneratorLimit | null {
  const { health, plan } = issued;
  if (health === null || plan.scheduledDeltaNs.length > 0) return null;
  // Server without a schedule is a closed loop of several streams.
  const scenario = settings.scenario === 'Server' ? 'SingleStream' : settings.scenario;
  const { percentiles } = summary.queryLatency ?? summary.sampleLatency;
  const typicalNs = percentiles.find(({ percentile }) => percentile === 0.5)?.valueNs ?? 0;
  return starvation(health, scenario, typicalNs, lagShareMax ?? LAG_SHARE_MAX_DEFAULT);
}
