import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { type GrowingArray, growingFloat64, growingUint32 } from '../base/growing-array.ts';
import { exponentialNs, shuffle } from '../random/distributions.ts';
import { Mt19937 } from '../random/mt19937.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import type { LoadgenBehaviour } from '../settings/loadgen-behaviour.ts';
import { PLAN_SAMPLES_MAX } from '../settings/plan-size.ts';
import { arrivalTimes, type OtherArrivals, ownEndOf } from './arrivals/arrivals.ts';
import { type LoadableSet, type Phase, SampleOrder } from './sample-order.ts';

/**
 * All queries of one set, planned before the clock starts. Every query has the same sample count.
 */
export interface QueryPlan {
  readonly queryCount: number;
  readonly samplesPerQuery: number;
  /** Library indices; query q has `samplesPerQuery` of them, from `q * samplesPerQuery` on. */
  readonly sampleIndices: Uint32Array;
  /**
   * Server: due time of query q, in ns since the start of the set. Empty in other scenarios and in
   * a closed loop.
   */
  readonly scheduledDeltaNs: Float64Array;
  /** Other scenarios: expected ns between two queries. Decides the count, never the due time. */
  readonly periodNs: number;
  /** Queries that LoadGen generates: `queryCount`, plus Offline queries that are never issued. */
  readonly generatedQueryCount: number;
  /** Time at which the next query would be generated, in ns since the start. */
  readonly generatedDurationNs: number;
}

/** Input of {@link buildQueryPlan}. */
export interface PlanInput {
  readonly phase: Phase;
  readonly settings: EffectiveSettings;
  readonly set: LoadableSet;
  readonly loadgen: LoadgenBehaviour;
  /**
   * True: the plan includes Offline queries that LoadGen generates but never issues, for a trace.
   */
  readonly keepsUnissued?: boolean;
  /** Server: arrivals in place of LoadGen's Poisson. */
  readonly arrivals?: OtherArrivals | undefined;
}

/**
 * Generates the queries of one set (LoadGen: GenerateQueries). Both generators start anew from
 * their
 * seeds for every set.
 * @throws MlperfError `ERR_CONFIG_INVALID` for settings that give no query, no end or too many
 *   samples.
 */
export function buildQueryPlan(input: PlanInput): QueryPlan {
  const target = planTarget(input);
  checkSampleCount(target.leastQueries * target.samplesPerQuery);
  const order = new SampleOrder({ ...input, leastQueries: target.leastQueries });
  padForConcatenation(input, target);
  if (input.settings.scenario === 'Offline') return buildOfflinePlan(input, target, order);
  return new PlanBuilder(input, target, order).build();
}

/** How much to generate; grows until the rounds of samples are complete. */
interface PlanTarget {
  readonly durationNs: number;
  samplesPerQuery: number;
  leastQueries: number;
}

function planTarget({ phase, settings, set, arrivals }: PlanInput): PlanTarget {
  const samplesPerQuery =
    phase === 'accuracy' && settings.scenario === 'Offline'
      ? set.distributionEnd
      : settings.samplesPerQuery;
  if (phase === 'accuracy' || settings.performanceIssueUnique) {
    const leastQueries = Math.floor(set.sampleIndices.length / samplesPerQuery);
    if (leastQueries === 0) {
      throw configInvalid(
        `a query needs ${samplesPerQuery} samples but the loaded set has ${set.sampleIndices.length}`,
      );
    }
    return { durationNs: 0, samplesPerQuery, leastQueries };
  }
  const ownEnd = arrivals === undefined ? undefined : ownEndOf(arrivals);
  if (ownEnd !== undefined) {
    // The arrivals end the run; their number only decides how many sample orders are drawn.
    return { durationNs: 0, samplesPerQuery, leastQueries: Math.max(1, Math.ceil(ownEnd.queries)) };
  }
  // Open-loop arrivals last as long as the run; a closed loop may be twice as fast as expected.
  const factor = settings.scenario === 'Server' ? 1 : 2;
  return {
    durationNs: factor * settings.targetDurationMs * 1e6,
    samplesPerQuery,
    leastQueries: settings.minQueryCount,
  };
}

/** Rounds the samples up to whole passes through the set. */
function padForConcatenation(
  { phase, settings, set, loadgen }: PlanInput,
  target: PlanTarget,
): void {
  if (phase === 'accuracy' || !settings.sampleConcatenatePermutation) return;
  const setLength = set.sampleIndices.length;
  if (settings.scenario !== 'Offline') {
    const padded = roundUp(target.leastQueries, setLength);
    if (settings.performanceIssueUnique && padded > target.leastQueries) {
      throw configInvalid(
        `performance_issue_unique has samples for ${target.leastQueries} queries, but ` +
          `sample_concatenate_permutation asks for ${padded} (LoadGen breaks off with out_of_range): ` +
          'set one of the two to 0',
      );
    }
    target.leastQueries = padded;
  } else if (target.samplesPerQuery % setLength !== 0) {
    target.samplesPerQuery = roundUp(target.samplesPerQuery, setLength);
  } else if (loadgen.repeatsWholeOfflineQuery) {
    target.leastQueries = roundUp(target.leastQueries, setLength);
  }
}

/** Queries of whole passes through the set, and a remainder. Only the first is ever issued. */
function buildOfflinePlan(input: PlanInput, target: PlanTarget, order: SampleOrder): QueryPlan {
  const { samplesPerQuery } = target;
  const queryCount = input.keepsUnissued ? target.leastQueries : 1;
  checkSampleCount(queryCount * samplesPerQuery);
  const sampleIndices = new Uint32Array(queryCount * samplesPerQuery);
  for (let begin = 0; begin < sampleIndices.length; begin += samplesPerQuery) {
    fillOfflineQuery(sampleIndices.subarray(begin, begin + samplesPerQuery), input, order);
  }
  const periodNs = fixedPeriodNs(input.settings.targetQps);
  return {
    queryCount,
    samplesPerQuery,
    sampleIndices,
    scheduledDeltaNs: new Float64Array(0),
    periodNs,
    generatedQueryCount: target.leastQueries,
    generatedDurationNs: target.leastQueries * periodNs,
  };
}

function fillOfflineQuery(
  sampleIndices: Uint32Array,
  { settings, set, loadgen }: PlanInput,
  order: SampleOrder,
): void {
  if (settings.performanceIssueSame) {
    sampleIndices.fill(order.sameSample());
    return;
  }
  const loaded = set.sampleIndices;
  const round = loaded.slice();
  const wholeEnd = sampleIndices.length - (sampleIndices.length % loaded.length);
  for (let at = 0; at < wholeEnd; at += loaded.length) {
    if (settings.sampleConcatenatePermutation) {
      round.set(loaded);
      shuffle(order.generator, round, loadgen.rngLibrary);
    }
    sampleIndices.set(round, at);
  }
  sampleIndices.set(loaded.subarray(0, sampleIndices.length - wholeEnd), wholeEnd);
}

/** Adds queries until both duration and count are reached. */
class PlanBuilder {
  readonly #input: PlanInput;
  readonly #target: PlanTarget;
  readonly #order: SampleOrder;
  readonly #scheduleGenerator: Mt19937;
  readonly #sampleIndices: GrowingArray<Uint32Array>;
  readonly #scheduledDeltaNs: GrowingArray<Float64Array>;
  /** False: a query is due when it is issued. */
  readonly #hasSchedule: boolean;
  /** Null: LoadGen's Poisson arrivals, or no schedule. */
  readonly #otherArrivals: (() => number) | null;
  readonly #ownEndNs: number | undefined;

  constructor(input: PlanInput, target: PlanTarget, order: SampleOrder) {
    this.#input = input;
    this.#target = target;
    this.#order = order;
    this.#scheduleGenerator = new Mt19937(input.settings.scheduleRngSeed);
    const expected = expectedQueries(input.settings, target);
    this.#sampleIndices = growingUint32(expected * target.samplesPerQuery);
    const { arrivals, settings } = input;
    const isClosedLoop = arrivals?.kind === 'closed-loop';
    this.#hasSchedule = settings.scenario === 'Server' && !isClosedLoop;
    this.#scheduledDeltaNs = growingFloat64(this.#hasSchedule ? expected : 0);
    this.#otherArrivals =
      arrivals === undefined || isClosedLoop
        ? null
        : arrivalTimes(arrivals, settings.targetQps, this.#scheduleGenerator);
    this.#ownEndNs = arrivals === undefined ? undefined : ownEndOf(arrivals)?.durationNs;
  }

  build(): QueryPlan {
    const { settings, phase, set } = this.#input;
    const target = this.#target;
    const hasSchedule = this.#hasSchedule;
    const completesRounds =
      phase === 'performance' &&
      settings.sampleConcatenatePermutation &&
      this.#ownEndNs === undefined;
    const periodNs = hasSchedule ? 0 : fixedPeriodNs(settings.targetQps);
    checkPeriod(settings, periodNs, target.durationNs);
    let queryCount = 0;
    let lastNs = 0;
    let dueNs = 0;
    while (this.#needsMore(queryCount, lastNs, dueNs)) {
      this.#addSamples();
      if (hasSchedule) this.#scheduledDeltaNs.push(dueNs);
      queryCount += 1;
      lastNs = dueNs;
      dueNs = hasSchedule ? this.#nextDueNs(dueNs) : dueNs + periodNs;
      if (hasSchedule) checkScheduleEnd(lastNs);
      if (completesRounds && queryCount >= target.leastQueries && lastNs < target.durationNs) {
        target.leastQueries += set.sampleIndices.length;
      }
    }
    if (queryCount === 0) {
      throw configInvalid(
        'the settings give no query (LoadGen crashes on them): ' +
          'min_query_count or min_duration must be above 0',
      );
    }
    return {
      queryCount,
      samplesPerQuery: target.samplesPerQuery,
      sampleIndices: this.#sampleIndices.finish(),
      scheduledDeltaNs: this.#scheduledDeltaNs.finish(),
      periodNs,
      generatedQueryCount: queryCount,
      generatedDurationNs: this.#ownEndNs ?? dueNs,
    };
  }

  #needsMore(queryCount: number, lastNs: number, dueNs: number): boolean {
    if (this.#ownEndNs !== undefined) return dueNs < Number.POSITIVE_INFINITY;
    if (lastNs < this.#target.durationNs || queryCount < this.#target.leastQueries) return true;
    // A burst is never cut.
    return this.#otherArrivals !== null && dueNs === lastNs;
  }

  /** Adds the samples of one query: neighbours in the loaded set, from the picked position on. */
  #addSamples(): void {
    const loaded = this.#input.set.sampleIndices;
    const position = this.#order.nextPosition();
    checkSampleCount(this.#sampleIndices.length + this.#target.samplesPerQuery);
    for (let i = 0; i < this.#target.samplesPerQuery; i += 1) {
      this.#sampleIndices.push(loaded[position + i] as number); // In range: the set is padded.
    }
  }

  #nextDueNs(dueNs: number): number {
    if (this.#otherArrivals !== null) return this.#otherArrivals();
    return dueNs + exponentialNs(this.#scheduleGenerator, this.#input.settings.targetQps);
  }
}

/** A slightly high estimate of the number of queries; 0 if that would be too many. */
function expectedQueries({ targetQps }: EffectiveSettings, target: PlanTarget): number {
  const byDuration = (target.durationNs / 1e9) * targetQps;
  const expected = Math.ceil(1.01 * Math.max(target.leastQueries, byDuration)) + 1000;
  return expected * target.samplesPerQuery <= PLAN_SAMPLES_MAX ? expected : 0;
}

function fixedPeriodNs(targetQps: number): number {
  return targetQps > 0 ? Math.trunc((1 / targetQps) * 1e9) : 0;
}

/** @param durationNs 0 if only the query count ends the plan. */
function checkPeriod(
  { scenario, targetQps }: EffectiveSettings,
  periodNs: number,
  durationNs: number,
): void {
  if (scenario === 'Server' ? targetQps > 0 : periodNs >= 1 || durationNs === 0) return;
  const key =
    scenario === 'Server'
      ? 'server_target_qps'
      : `${scenario === 'SingleStream' ? 'single' : 'multi'}_stream_expected_latency_ns`;
  throw configInvalid(`${key} must be above 0 and finite: it decides how many queries there are`);
}

/** Refuses a schedule beyond 2^53 ns (104 days): doubles hold every whole ns only up to there. */
function checkScheduleEnd(lastNs: number): void {
  if (lastNs <= Number.MAX_SAFE_INTEGER) return;
  throw configInvalid(
    'the schedule lasts longer than 104 days: ' +
      'raise server_target_qps, or lower min_duration or min_query_count',
  );
}

function checkSampleCount(sampleCount: number): void {
  if (sampleCount <= PLAN_SAMPLES_MAX) return;
  throw configInvalid(
    `the settings ask for more than ${PLAN_SAMPLES_MAX} samples in one run: ` +
      'lower the target QPS, min_duration or min_query_count, or raise the expected latency',
  );
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
