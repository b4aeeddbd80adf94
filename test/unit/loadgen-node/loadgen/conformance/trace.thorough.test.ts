import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildTrace,
  type SetTrace,
  type Trace,
} from '../../../../../loadgen-node/loadgen/conformance/trace.ts';
import { RNG_LIBRARIES } from '../../../../../loadgen-node/loadgen/random/distributions.ts';
import {
  LOADGEN_V41,
  LOADGEN_V61,
} from '../../../../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import {
  defaultTestSettings,
  type TestSettings,
} from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { SCENARIOS } from '../../../../../shared/domain/scenario.ts';
import { runsOf } from '../../../../scenes/host/thorough.ts';

interface Case {
  readonly settings: TestSettings;
  readonly library: { readonly totalSampleCount: number; readonly performanceSampleCount: number };
  readonly trace: Trace;
}

const SEED = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

/** Any small test that LoadGen itself could run, with its whole trace. */
const CASES: fc.Arbitrary<Case> = fc
  .record({
    scenario: fc.constantFrom(...SCENARIOS),
    mode: fc.constantFrom('AccuracyOnly', 'PerformanceOnly', 'SubmissionRun'),
    total: fc.integer({ min: 1, max: 120 }),
    performance: fc.integer({ min: 1, max: 60 }),
    multiStreamSamplesPerQuery: fc.integer({ min: 1, max: 9 }),
    serverTargetQps: fc.double({ min: 1, max: 2000, noNaN: true }),
    offlineExpectedQps: fc.constantFrom(0, 0.01, 1, 33.3, 1000),
    minDurationMs: fc.nat(300),
    minQueryCount: fc.integer({ min: 1, max: 150 }),
    sampleConcatenatePermutation: fc.boolean(),
    performanceIssueUnique: fc.boolean(),
    qslRngSeed: SEED,
    sampleIndexRngSeed: SEED,
    scheduleRngSeed: SEED,
    accuracyLogRngSeed: SEED,
    accuracyLogProbability: fc.double({ min: 0, max: 1, noNaN: true }),
    loadgen: fc.constantFrom(LOADGEN_V41, LOADGEN_V61),
    rngLibrary: fc.constantFrom(...RNG_LIBRARIES),
  })
  // LoadGen itself has no query then, and crashes; both are refused here with a text.
  .filter((made) => !made.performanceIssueUnique || made.total >= made.performance)
  .filter(
    (made) =>
      made.scenario !== 'MultiStream' ||
      !(made.performanceIssueUnique && made.sampleConcatenatePermutation),
  )
  .filter(
    (made) => made.scenario !== 'MultiStream' || made.total >= made.multiStreamSamplesPerQuery,
  )
  .map(({ total, performance, loadgen, rngLibrary, ...fields }) => {
    const settings: TestSettings = { ...defaultTestSettings(), ...fields };
    const library = { totalSampleCount: total, performanceSampleCount: performance };
    const trace = buildTrace({
      settings,
      library,
      loadgen: { ...loadgen, rngLibrary },
      isFull: true,
    });
    return { settings, library, trace };
  });

function list(set: SetTrace, key: keyof SetTrace): readonly number[] {
  return set[key] as readonly number[];
}

function setsOf({ trace }: Case): readonly SetTrace[] {
  return trace.phases.flatMap((phase) => phase.sets);
}

const RUNS = { numRuns: runsOf(100, 20) };

// Goal: what holds for every trace, whatever settings, seeds, round and C++ library.
// Method: random tests; their whole traces.
describe('any trace', () => {
  it('has a schedule that starts at 0 and never goes back', () => {
    fc.assert(
      fc.property(CASES, (made) => {
        for (const set of setsOf(made)) {
          const due = list(set, 'scheduled_ns_first');
          expect(due).toHaveLength(set.generated_query_count);
          expect(due[0]).toBe(0);
          expect(due.every((ns, i) => Number.isInteger(ns) && ns >= (due[i - 1] ?? 0))).toBe(true);
          expect(due.at(-1)).toBe(set['scheduled_ns_last']);
        }
      }),
      RUNS,
    );
  });

  it('has the right counts, and ids that go on from set to set', () => {
    fc.assert(
      fc.property(CASES, (made) => {
        let nextSample = 0;
        for (const set of setsOf(made)) {
          expect(set.first_sample_seq).toBe(nextSample);
          expect(set.sample_count).toBe(
            set.generated_query_count * set.generated_samples_per_query,
          );
          expect(list(set, 'sample_indices_first')).toHaveLength(set.sample_count);
          expect(list(set, 'acc_log_val_first')).toHaveLength(set.sample_count);
          expect(list(set, 'loaded_first')).toHaveLength(set.loaded_count);
          nextSample += set.sample_count;
        }
      }),
      RUNS,
    );
  });

  it('issues only samples that are loaded', () => {
    fc.assert(
      fc.property(CASES, (made) => {
        for (const set of setsOf(made)) {
          const loaded = new Set(list(set, 'loaded_first'));
          expect(list(set, 'sample_indices_first').every((index) => loaded.has(index))).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it('issues every sample of the library in an accuracy run', () => {
    fc.assert(
      fc.property(CASES, ({ settings, library, trace }) => {
        // MultiStream's padding stands for others at the end of a set whose size does not divide;
        // options of a performance run act in the accuracy run too.
        if (settings.performanceIssueUnique || settings.sampleConcatenatePermutation) return;
        if (settings.scenario === 'MultiStream') return;
        const [phase] = trace.phases.filter(({ mode }) => mode === 'AccuracyOnly');
        if (phase === undefined) return;
        const issued = phase.sets.flatMap((set) => list(set, 'sample_indices_first'));
        expect(issued.toSorted((x, y) => x - y)).toEqual(
          Array.from({ length: library.totalSampleCount }, (_, i) => i),
        );
      }),
      RUNS,
    );
  });

  it('lasts as long and has as many queries as a performance run needs', () => {
    fc.assert(
      fc.property(CASES, ({ settings, trace }) => {
        const phase = trace.phases.find(({ mode }) => mode === 'PerformanceOnly');
        if (phase === undefined || settings.performanceIssueUnique) return;
        const set = phase.sets[0] as SetTrace;
        const { min_query_count: leastQueries, min_sample_count: leastSamples } = trace.effective;
        expect(set.generated_query_count).toBeGreaterThanOrEqual(Number(leastQueries));
        expect(set.sample_count).toBeGreaterThanOrEqual(Number(leastSamples));
        if (settings.scenario !== 'Server') return;
        expect(set['scheduled_ns_last']).toBeGreaterThanOrEqual(settings.minDurationMs * 1e6);
      }),
      RUNS,
    );
  });

  it('logs samples of its own, in order, by chance', () => {
    fc.assert(
      fc.property(CASES, (made) => {
        for (const set of setsOf(made)) {
          const logged = list(set, 'logged_seq_first');
          expect(logged).toHaveLength(set['logged_seq_count'] as number);
          const end = set.first_sample_seq + set.sample_count;
          expect(logged.every((id) => id >= set.first_sample_seq && id < end)).toBe(true);
          expect(logged.every((id, i) => i === 0 || id > (logged[i - 1] as number))).toBe(true);
          if (made.settings.accuracyLogProbability === 1)
            expect(logged).toHaveLength(set.sample_count);
        }
      }),
      RUNS,
    );
  });
});
