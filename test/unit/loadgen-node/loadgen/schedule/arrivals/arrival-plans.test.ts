import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type OtherArrivals,
  ownEndOf,
  RateCourse,
  type RateStep,
} from '../../../../../../loadgen-node/loadgen/schedule/arrivals/arrivals.ts';
import {
  buildQueryPlan,
  type QueryPlan,
} from '../../../../../../loadgen-node/loadgen/schedule/query-plan.ts';
import { LoadableSets } from '../../../../../../loadgen-node/loadgen/schedule/sample-order.ts';
import { deriveEffectiveSettings } from '../../../../../../loadgen-node/loadgen/settings/effective-settings.ts';
import { LOADGEN_V41 } from '../../../../../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import type { TestSettings } from '../../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { V41_SETTINGS } from '../../../../../scenes/simulated-run/simulated-run.ts';

const LIBRARY = { totalSampleCount: 100, performanceSampleCount: 40 };

function plan(
  arrivals: OtherArrivals | undefined,
  settings: Partial<TestSettings> = {},
): QueryPlan {
  const requested = { ...V41_SETTINGS, scenario: 'Server', ...settings } as const;
  const { effective } = deriveEffectiveSettings(requested, LIBRARY, LOADGEN_V41);
  const set = new LoadableSets('performance', effective, LIBRARY, LOADGEN_V41).at(0);
  const phase = 'performance';
  return buildQueryPlan({ phase, settings: effective, set, loadgen: LOADGEN_V41, arrivals });
}

function dueOf(arrivals: OtherArrivals, settings: Partial<TestSettings> = {}): number[] {
  return [...plan(arrivals, settings).scheduledDeltaNs];
}

function stepOf(qps: number, seconds: number, toQps = qps): RateStep {
  return { fromQps: qps, toQps, durationNs: seconds * 1e9 };
}

const ENDED_BY_ARRIVALS = { minDurationMs: 0, minQueryCount: 1 } as const;

// Goal: queries are due exactly when the arrivals say, and end where they or LoadGen's rules end.
// Method: whole plans, against times written down here.
describe('plan of other arrivals', () => {
  it('has constant arrivals at i / target QPS, until duration and count are reached', () => {
    const settings = { serverTargetQps: 300, minDurationMs: 1000, minQueryCount: 5 };
    const due = dueOf({ text: 'constant', kind: 'constant' }, settings);
    expect(due).toEqual(Array.from({ length: 301 }, (_, i) => Math.round((i * 1e9) / 300)));
    const more = dueOf({ text: 'constant', kind: 'constant' }, { ...settings, minQueryCount: 500 });
    expect(more).toHaveLength(500);
  });

  it('does not drift in a long run of constant arrivals', () => {
    const settings = { serverTargetQps: 7, minDurationMs: 0, minQueryCount: 700_001 };
    expect(dueOf({ text: 'constant', kind: 'constant' }, settings).at(-1)).toBe(100_000e9);
  });

  it.each([
    ['by the target QPS', null, { serverTargetQps: 10, minDurationMs: 700 }],
    ['by their period', 300e6, { serverTargetQps: 1, minDurationMs: 700 }],
  ])('has bursts at one instant, the last one whole, %s', (_case, periodNs, settings) => {
    const due = dueOf(
      { text: 'burst:3', kind: 'burst', size: 3, periodNs },
      { ...settings, minQueryCount: 1 },
    );
    expect(due).toEqual([0, 3e8, 6e8, 9e8].flatMap((ns) => [ns, ns, ns]));
  });

  it('has steps at constant distances, whatever the least duration says elsewhere', () => {
    const steps = [stepOf(4, 1), stepOf(0, 1), stepOf(2, 2)];
    const due = dueOf({ text: 'step', kind: 'step', steps, isConstant: true }, ENDED_BY_ARRIVALS);
    expect(due).toEqual([0, 0.25e9, 0.5e9, 0.75e9, 2e9, 2.5e9, 3e9, 3.5e9]);
  });

  it('takes a ramp from 0 by its integral', () => {
    const steps = [stepOf(0, 10, 10)];
    const due = dueOf({ text: 'step', kind: 'step', steps, isConstant: true }, ENDED_BY_ARRIVALS);
    // Queries until t: t^2 / 2.
    expect(due).toEqual(Array.from({ length: 50 }, (_, i) => Math.round(Math.sqrt(2 * i) * 1e9)));
  });

  it("has LoadGen's own Poisson arrivals in a single step, to a ns per query", () => {
    const own = plan(undefined, { serverTargetQps: 50, minDurationMs: 60_000, minQueryCount: 1 });
    const steps = [stepOf(50, 60)];
    const due = dueOf({ text: 'step', kind: 'step', steps, isConstant: false }, ENDED_BY_ARRIVALS);
    const inTime = own.scheduledDeltaNs.filter((ns) => ns < 60e9);
    expect(due).toHaveLength(inTime.length);
    for (const [i, ns] of due.entries()) {
      expect(Math.abs(ns - (inTime[i] as number))).toBeLessThanOrEqual(1 + i);
    }
  });

  it('keeps the rate of each step, and other seeds make other arrivals', () => {
    const steps = [stepOf(1000, 10), stepOf(0, 5), stepOf(200, 10, 1800)];
    const arrivals = { text: 'step', kind: 'step', steps, isConstant: false } as const;
    const due = dueOf(arrivals, ENDED_BY_ARRIVALS);
    const between = (from: number, to: number): number =>
      due.filter((ns) => ns >= from * 1e9 && ns < to * 1e9).length;
    // Within four standard deviations of the expectation.
    expect(Math.abs(between(0, 10) - 10_000)).toBeLessThan(400);
    expect(between(10, 15)).toBe(0);
    expect(Math.abs(between(15, 20) - 3000)).toBeLessThan(220);
    expect(Math.abs(between(20, 25) - 7000)).toBeLessThan(335);
    expect(due).toEqual(dueOf(arrivals, ENDED_BY_ARRIVALS));
    expect(due).not.toEqual(dueOf(arrivals, { ...ENDED_BY_ARRIVALS, scheduleRngSeed: 4n }));
  });

  it('has the times of a trace, each once', () => {
    const dueNs = Float64Array.of(0, 5, 5, 1e9, 3e9);
    const made = plan({ text: 'trace:a', kind: 'trace', dueNs }, ENDED_BY_ARRIVALS);
    expect(made.scheduledDeltaNs).toEqual(dueNs);
    expect([made.queryCount, made.generatedDurationNs]).toEqual([5, 3e9]);
  });

  it('issues loaded samples in whole rounds where they are requested', () => {
    const dueNs = Float64Array.from({ length: 95 }, (_, i) => i);
    const settings = { ...ENDED_BY_ARRIVALS, sampleConcatenatePermutation: true };
    const { sampleIndices } = plan({ text: 'trace:a', kind: 'trace', dueNs }, settings);
    expect(new Set(sampleIndices.subarray(0, 40)).size).toBe(40);
    expect(new Set(sampleIndices.subarray(40, 80))).toEqual(new Set(sampleIndices.subarray(0, 40)));
    expect([...sampleIndices.subarray(40, 80)]).not.toEqual([...sampleIndices.subarray(0, 40)]);
  });

  it("leaves LoadGen's plan as it was before there were others", () => {
    const made = plan(undefined, {
      ...{ serverTargetQps: 500, minDurationMs: 2000, minQueryCount: 100 },
    });
    const digest = ({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array): string =>
      createHash('sha256')
        .update(new Uint8Array(buffer, byteOffset, byteLength))
        .digest('hex')
        .slice(0, 16);
    expect([made.queryCount, made.generatedDurationNs]).toEqual([944, 2_007_725_349]);
    expect(digest(made.scheduledDeltaNs)).toBe('42af01be83bd0ad7');
    expect(digest(made.sampleIndices)).toBe('11503970176da34b');
  });

  it('never goes back in time, starts at 0 and ends within the steps, whatever they are', () => {
    const rate = fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 2000, noNaN: true }));
    const step = fc.record({
      fromQps: rate,
      toQps: rate,
      durationNs: fc.integer({ min: 1, max: 2_000_000_000 }),
    });
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (steps, isConstant) => {
          const arrivals = { text: 'step', kind: 'step', steps, isConstant } as const;
          const due = dueOf(arrivals, ENDED_BY_ARRIVALS);
          const end = ownEndOf(arrivals);
          expect(due[0]).toBe(0);
          expect(due.every((ns, i) => i === 0 || ns >= (due[i - 1] ?? 0))).toBe(true);
          expect(due.every(Number.isSafeInteger)).toBe(true);
          expect(due.at(-1)).toBeLessThanOrEqual(end?.durationNs ?? 0);
          if (isConstant) {
            expect(Math.abs(due.length - Math.max(1, end?.queries ?? 0))).toBeLessThanOrEqual(1);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('RateCourse', () => {
  it('says that there are no more queries behind its end', () => {
    const course = new RateCourse([stepOf(2, 1)]);
    expect([course.timeOf(1.9), course.timeOf(2), course.timeOf(9)]).toEqual([
      0.95e9,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
  });

  it('falls to 0 without a time that is no number', () => {
    const course = new RateCourse([stepOf(1, 2, 0)]);
    expect(course.timeOf(0.75)).toBe(1e9);
    expect(course.timeOf(0.999_999_999_999_999_9)).toBeLessThanOrEqual(2e9);
  });
});
