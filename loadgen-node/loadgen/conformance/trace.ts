import { createHash } from 'node:crypto';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { wantsAccuracy, wantsPerformance } from '../engine/verdicts.ts';
import {
  AccuracyLogSelector,
  accuracyLogOffset,
  accuracyLogProbability,
} from '../schedule/accuracy-log-selection.ts';
import { buildQueryPlan, type QueryPlan } from '../schedule/query-plan.ts';
import { type LoadableSet, LoadableSets, type Phase } from '../schedule/sample-order.ts';
import { checkTracedSettings } from '../settings/check-settings.ts';
import {
  deriveEffectiveSettings,
  type EffectiveSettings,
  type LibraryCounts,
} from '../settings/effective-settings.ts';
import type { LoadgenBehaviour } from '../settings/loadgen-behaviour.ts';
import type { TestSettings } from '../settings/test-settings.ts';

/** Values shown from the beginning of a sequence. */
const FIRST_COUNT = 6000;
const FIRST_VALUE_COUNT = 200;
/** Largest sample count of a set whose full sequences fit into one text. */
const FULL_COUNT_MAX = 5_000_000;
/** Most sets of an accuracy run: the text has an entry for each. */
const SETS_MAX = 10_000;

/** Input of a trace. */
interface TraceInput {
  readonly settings: TestSettings;
  readonly library: LibraryCounts;
  readonly loadgen: LoadgenBehaviour;
  /** True: full sequences instead of their beginnings. */
  readonly isFull: boolean;
}

/** A double and its bits, most significant hex digit first. */
interface TracedDouble {
  readonly v: number;
  readonly bits: string;
}

/** All that LoadGen would load, issue and log, without a SUT; keys as in docs/benchmarks.md. */
export type Trace = ReturnType<typeof buildTrace>;
export type SetTrace = Trace['phases'][number]['sets'][number];

/**
 * Generates everything that a test would issue, as the engine itself does.
 * @throws MlperfError `ERR_CONFIG_INVALID` for settings that cannot be run.
 */
export function buildTrace(input: TraceInput) {
  const { settings, library, loadgen } = input;
  checkTracedSettings(settings, library);
  const { effective } = deriveEffectiveSettings(settings, library, loadgen);
  const { probability, expectedSamples } = accuracyLogProbability(effective);
  const tracer = new PhaseTracer(effective, input);
  const phases: Phase[] = [];
  if (wantsAccuracy(effective)) phases.push('accuracy');
  if (wantsPerformance(effective)) phases.push('performance');
  return {
    effective: tracedSettings(effective),
    accuracy_log: {
      offset: tracedDouble(accuracyLogOffset(effective)),
      probability: tracedDouble(probability),
      expected_queries: expectedSamples,
    },
    phases: phases.map((phase) => tracer.trace(phase)),
  };
}

/** Effective settings that decide which queries are issued, by LoadGen's names. */
function tracedSettings(effective: EffectiveSettings) {
  return {
    scenario: effective.scenario,
    mode: effective.mode,
    samples_per_query: effective.samplesPerQuery,
    target_qps: tracedDouble(effective.targetQps),
    target_duration_ms: effective.targetDurationMs,
    min_duration_ms: effective.minDurationMs,
    max_duration_ms: signedOf(effective.maxDurationMs),
    min_query_count: effective.minQueryCount,
    max_query_count: effective.maxQueryCount,
    min_sample_count: effective.minSampleCount,
    performance_sample_count: effective.performanceSampleCount,
    accuracy_sample_count: effective.accuracySampleCount,
    max_async_queries: effective.maxAsyncQueries,
    sample_concatenate_permutation: effective.sampleConcatenatePermutation,
    qsl_rng_seed: String(effective.qslRngSeed),
    sample_index_rng_seed: String(effective.sampleIndexRngSeed),
    schedule_rng_seed: String(effective.scheduleRngSeed),
    accuracy_log_rng_seed: String(effective.accuracyLogRngSeed),
  };
}

/** LoadGen stores durations as signed: 2^64 - 1 ms (held as 2^64) is -1. */
function signedOf(valueMs: number): number {
  if (valueMs < 2 ** 63) return valueMs;
  return valueMs === 2 ** 64 ? -1 : valueMs - 2 ** 64;
}

function tracedDouble(value: number): TracedDouble {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return { v: value, bits: bytes.toString('hex') };
}

/** Traces consecutive phases: ids and accuracy-log values continue from set to set. */
class PhaseTracer {
  readonly #effective: EffectiveSettings;
  readonly #input: TraceInput;
  readonly #selector = new AccuracyLogSelector();
  #nextSample = 0;

  constructor(effective: EffectiveSettings, input: TraceInput) {
    this.#effective = effective;
    this.#input = input;
  }

  trace(phase: Phase) {
    const { library, loadgen } = this.#input;
    const sets = new LoadableSets(phase, this.#effective, library, loadgen);
    const usedCount = phase === 'accuracy' ? sets.count : 1;
    if (usedCount > SETS_MAX) {
      throw configInvalid(
        `an accuracy run of this library has ${usedCount} sets; a trace shows ${SETS_MAX} at most: ` +
          'raise --qsl-performance',
      );
    }
    return {
      mode: phase === 'accuracy' ? 'AccuracyOnly' : 'PerformanceOnly',
      loadable_set_count: sets.count,
      sets_used: usedCount,
      sets: Array.from({ length: usedCount }, (_, i) => this.#traceSet(phase, i, sets.at(i))),
    };
  }

  #traceSet(phase: Phase, index: number, set: LoadableSet) {
    const plan = buildQueryPlan({
      phase,
      settings: this.#effective,
      set,
      loadgen: this.#input.loadgen,
      keepsUnissued: true,
    });
    const sampleCount = plan.sampleIndices.length;
    if (this.#input.isFull) refuseTooManyToPrint(sampleCount);
    const firstSample = this.#nextSample;
    this.#nextSample += sampleCount;
    const values = Float64Array.from({ length: sampleCount }, () => this.#selector.nextValue());
    const logged = this.#loggedSamples(values, firstSample);
    const scheduledNs = scheduleOf(plan);
    const sizes = new Uint32Array(plan.queryCount).fill(plan.samplesPerQuery);
    return {
      set: index,
      first_sample_seq: firstSample,
      loaded_count: set.sampleIndices.length,
      sample_distribution_end: set.distributionEnd,
      loaded_sha256: sha256OfIntegers(set.sampleIndices),
      loaded_first: this.#first(set.sampleIndices),
      generated_query_count: plan.queryCount,
      generated_samples_per_query: plan.samplesPerQuery,
      sample_count: sampleCount,
      last_query_size: plan.samplesPerQuery,
      query_sizes_sha256: sha256OfIntegers(sizes),
      sample_indices_sha256: sha256OfIntegers(plan.sampleIndices),
      sample_indices_first: this.#first(plan.sampleIndices),
      scheduled_ns_sha256: sha256OfIntegers(scheduledNs),
      scheduled_ns_first: this.#first(scheduledNs),
      scheduled_ns_last: scheduledNs.at(-1) ?? 0,
      acc_log_val_sha256: sha256OfDoubles(values),
      acc_log_val_first: this.#first(values, FIRST_VALUE_COUNT),
      logged_seq_count: logged.length,
      logged_seq_sha256: sha256OfIntegers(logged),
      logged_seq_first: this.#first(logged),
    };
  }

  /** Samples that the random selection would log; an accuracy run logs all. */
  #loggedSamples(values: Float64Array, firstSample: number): number[] {
    const offset = accuracyLogOffset(this.#effective);
    const { probability } = accuracyLogProbability(this.#effective);
    const logged: number[] = [];
    values.forEach((value, i) => {
      const shifted = value + offset;
      if ((shifted < 1 ? shifted : shifted - 1) <= probability) logged.push(firstSample + i);
    });
    return logged;
  }

  #first(values: Uint32Array | Float64Array | readonly number[], count = FIRST_COUNT): number[] {
    return Array.from(this.#input.isFull ? values : values.slice(0, count));
  }
}

function refuseTooManyToPrint(sampleCount: number): void {
  if (sampleCount <= FULL_COUNT_MAX) return;
  throw configInvalid(
    `a set of ${sampleCount} samples is too large to print as a whole (--full): ` +
      `${FULL_COUNT_MAX} are the most; the hashes cover all of it without --full`,
  );
}

function scheduleOf({ scheduledDeltaNs, queryCount, periodNs }: QueryPlan): Float64Array {
  if (scheduledDeltaNs.length > 0) return scheduledDeltaNs;
  // A rate near 0 has an infinite period; the first query is at 0 all the same.
  return Float64Array.from({ length: queryCount }, (_, i) => (i === 0 ? 0 : i * periodNs));
}

/** Values per call of the hash. */
const PART_LENGTH = 1 << 16;
const TWO_POW_32 = 2 ** 32;

/** SHA-256 in hex over whole numbers >= 0, each as 8 bytes, little-endian. */
function sha256OfIntegers(values: ArrayLike<number>): string {
  const hash = createHash('sha256');
  const words = new Uint32Array(2 * PART_LENGTH);
  for (let begin = 0; begin < values.length; begin += PART_LENGTH) {
    const count = Math.min(PART_LENGTH, values.length - begin);
    for (let i = 0; i < count; i += 1) {
      const value = values[begin + i] as number; // In range: begin + count <= length.
      words[2 * i] = value % TWO_POW_32;
      words[2 * i + 1] = Math.floor(value / TWO_POW_32);
    }
    hash.update(words.subarray(0, 2 * count));
  }
  return hash.digest('hex');
}

/** SHA-256 in hex over doubles, each as 8 bytes, little-endian. */
function sha256OfDoubles(values: Float64Array): string {
  return createHash('sha256').update(values).digest('hex');
}
