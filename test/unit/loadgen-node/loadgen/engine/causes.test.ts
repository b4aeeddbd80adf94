import { describe, expect, it } from 'vitest';
import type { TestOutcome } from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { GeneratorHealth } from '../../../../../loadgen-node/loadgen/results/generator-health.ts';
import type { OtherArrivals } from '../../../../../loadgen-node/loadgen/schedule/arrivals/arrivals.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { adviceOn } from '../../../../../loadgen-node/present/text/advice.ts';
import { courseNotes } from '../../../../../loadgen-node/run/judge/run-notes.ts';
import { KeptProbe } from '../../../../../loadgen-node/search/peak/run-probes.ts';
import { MlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';
import type { SutOptions } from '../../../../scenes/simulated-run/simulated-sut.ts';
import { generatorHealth, monitorThatTells } from '../../../../scenes/simulated-run/summary.ts';

// Goal: words follow causes: each row of the table of causes is claimed where a SUT of that
// behaviour was measured, no later row beside it, and no reason that only follows from it. Method:
// simulated time; the queue of the SUT is one worker.

const SERVER: Partial<TestSettings> = {
  scenario: 'Server',
  serverTargetQps: 100,
  serverTargetLatencyNs: 30e6,
  minDurationMs: 30_000,
  minQueryCount: 1,
};

interface Given extends SutOptions {
  readonly settings?: Partial<TestSettings>;
  readonly health?: Partial<GeneratorHealth>;
  readonly arrivals?: OtherArrivals;
  /**
   * Work of so many ms on LoadGen's thread every 20 ms, of `otherWorkMs`; once, of `stopMs`, after
   * 10 s.
   */
  readonly otherWorkMs?: number;
  readonly stopMs?: number;
}

async function outcomeOf(given: Given): Promise<TestOutcome> {
  const { settings, health, arrivals, otherWorkMs = 0, stopMs = 0, ...sut } = given;
  const test = simulatedTest({ ...SERVER, ...settings }, sut);
  const { clock } = test;
  const work = (): void => {
    clock.spend(otherWorkMs * 1e6);
    if (clock.nowNs() < 30e9) clock.callAt(clock.nowNs() + 20e6, work);
  };
  if (otherWorkMs > 0) clock.callAt(20e6, work);
  if (stopMs > 0) clock.callAt(10e9, () => clock.spend(stopMs * 1e6));
  const monitor = monitorThatTells(generatorHealth(health));
  // The parts that answered are kept for records.
  const keepRecords = sut.partOf && (async () => {});
  return await test.run({ arrivals, observer: { generatorMonitor: monitor, keepRecords } });
}

async function judged(given: Given) {
  const outcome = await outcomeOf(given);
  const { reasons } = outcome.verdicts.longhaul;
  return {
    cause: outcome.verdicts.longhaul.cause,
    reasons,
    rules: reasons.map(({ rule }) => rule),
    advice: reasons.map((reason) => adviceOn(reason, outcome)).join(' '),
    performance: outcome.performance,
  };
}

/**
 * Work of a SUT that stands still from the sample of 10 s on for so long, then does each in
 * `serviceNs`.
 */
const standing = (stillNs: number, serviceNs: number) => (sample: number) =>
  sample === 1000 ? stillNs : serviceNs;

const NODES = ['node a', 'node b'].map((name) => ({ name, otherWork: null }));

describe('the cause of an INVALID run', () => {
  it('is a SUT that broke, before all that follows from it', async () => {
    const { cause, rules, advice } = await judged({
      isQueue: true,
      serviceNs: () => 20e6,
      afterIssue: (sink, { id }) => {
        if (id === 200) sink.fault(new MlperfError('ERR_SUT_LOST', 'node 1 is gone'));
      },
    });
    expect(advice).toMatch(/^Look at the log of the SUT node, and at how it ended /);
    expect(cause).toEqual({ kind: 'sut-broke', text: 'the SUT broke' });
    expect(rules).toEqual(['fault']);
  });

  it('is LoadGen where it was late, and nothing is said of the SUT or of a rate that it would keep', async () => {
    const { cause, rules, advice } = await judged({ serviceNs: () => 29e6, otherWorkMs: 12 });
    expect(cause?.kind).toBe('loadgen');
    expect(rules).toEqual(['generator-bound']);
    expect(advice).toMatch(/^Give the LoadGen node a machine, or cores, of its own/);
  });

  it('is a LoadGen that was late for a moment, which no lower load mends', async () => {
    const { cause, rules, advice, performance } = await judged({
      settings: { serverTargetQps: 3, minDurationMs: 60_000 },
      serviceNs: () => 1e6,
      stopMs: 1_200,
    });
    expect(cause).toEqual({ kind: 'loadgen', text: 'LoadGen itself was late for moments' });
    expect(rules[0]).toBe('generator-bound');
    expect(performance?.generatorBoundReason).toMatch(
      /^queries went out late: p99 .*; \d of \d+ queries were so late, the worst by [\d.]+ m?s, due at [\d.]+ s/,
    );
    expect(advice).toMatch(/^Repeat the run while nothing else uses the LoadGen node, /);
    expect(advice).toContain('so a lower load does not help.');
  });

  it('is LoadGen where its process was stopped, though the SUT answered late in the mean', async () => {
    const second = { cpuShare: 0.1, cpuWaitShare: 0.01, gcNs: 0 };
    const { cause, rules, performance } = await judged({
      serviceNs: () => 1e6,
      stopMs: 3_000,
      health: {
        seconds: [
          { ...second, atNs: 1e9, eventLoopDelayMaxNs: 1e6 },
          { ...second, atNs: 5e9, eventLoopDelayMaxNs: 3e9 },
        ],
      },
    });
    expect([cause?.kind, rules]).toEqual(['loadgen', ['generator-bound']]);
    expect(performance?.generatorBoundReason).toMatch(
      /its process stood still for 3 s without waiting for a core: stopped, suspended, or held by a disk$/,
    );
  });

  it('is LoadGen where its CPU limit stopped it, which is not other work', async () => {
    const { advice, performance } = await judged({
      serviceNs: () => 1e6,
      otherWorkMs: 12,
      health: {
        cpuWaitShare: 0.75,
        throttled: { periods: 618, throttledPeriods: 581, totalNs: 7.5e9 },
      },
    });
    expect(performance?.generatorBoundReason).toMatch(
      /the CPU limit of its control group stopped it in 581 of 618 periods, 7.5 s in all/,
    );
    expect(performance?.generatorBoundReason).not.toContain('other work');
    expect(advice).toMatch(/^Raise the CPU limit/);
  });

  it('is one stretch without answers, and no rate is advised', async () => {
    const { cause, rules, advice } = await judged({ isQueue: true, serviceNs: standing(2e9, 1e6) });
    expect(cause).toMatchObject({ kind: 'standstill' });
    expect(cause?.text).toMatch(
      /^the SUT answered nothing for (2|1\.9\d) s, from (10|9\.9\d|10\.\d+) s on$/,
    );
    expect(rules).toEqual(['latency-bound']);
    expect(advice).toMatch(/ and \d+ late samples came of that: find out what held it up\./);
    expect(advice).not.toContain('for example');
  });

  it('is one of a node that answers nothing while the other one goes on', async () => {
    const { cause, rules, advice } = await judged({
      parts: NODES,
      partOf: (sample) => sample % 2,
      // Node b stands still from 10 s on, for 2 s; nothing else is late.
      serviceNs: (sample) =>
        sample % 2 === 1 && sample >= 1000 && sample < 1200 ? 2e9 - (sample - 1000) * 10e6 : 1e6,
    });
    expect(cause?.kind).toBe('standstill');
    expect(cause?.text).toMatch(
      /^node b answered nothing for (2|1\.[89]\d?|2\.\d+) s, from (9\.\d+|10|10\.\d+) s on$/,
    );
    expect(rules).toEqual(['latency-bound']);
    expect(advice).toMatch(/^Node b answered nothing .* and \d\d late samples came of that/);
  });

  it('is a node that stood still where its late samples alone ask for more queries', async () => {
    const stands = (from: number) => ({
      settings: { serverTargetLatencyNs: 1.93e9, minDurationMs: 10_000, minQueryCount: 1000 },
      parts: NODES,
      partOf: (sample: number) => sample % 2,
      serviceNs: (sample: number) =>
        sample % 2 === 1 && sample >= from && sample < from + 200
          ? 2e9 - (sample - from) * 10e6
          : 1e6,
    });
    const { cause, rules, advice, performance } = await judged(stands(500));
    expect(cause?.kind).toBe('standstill');
    // What the cause says is in no note as well.
    expect(performance?.course.keptStandstill).not.toBeNull();
    expect(courseNotes(performance).join()).not.toContain('answered nothing');
    expect(cause?.text).toMatch(/^node b answered nothing for /);
    expect(rules).toEqual(['early-stopping']);
    expect(advice).toMatch(
      /^Node b answered nothing for .* late samples? came of that: without them there are enough queries\./,
    );
    expect(advice).not.toContain('--min-query-count');
    // Too few also without them.
    const few = stands(300);
    const short = { ...few, settings: { ...few.settings, minDurationMs: 4500, minQueryCount: 1 } };
    expect((await judged(short)).advice).toContain('--min-query-count');
  });

  it('is what the SUT does for others, and no lower rate is advised', async () => {
    const slow = { isQueue: true, serviceNs: () => 20e6 };
    const beside = (samples: number) => ({
      parts: [{ name: 'node a', otherWork: { samples, text: `answered ${samples} of others` } }],
    });
    const { cause, rules, advice } = await judged({ ...slow, ...beside(4_000) });
    expect(cause).toEqual({ kind: 'shared', text: 'node a answered 4000 of others' });
    expect(rules).toEqual(['not-kept-up', 'latency-bound']);
    expect(advice).toMatch(/^Node a answered 4000 of others: repeat the run while nothing else/);
    expect(advice).not.toContain('target-qps');
    // The queue grew by more than these, and a stretch without answers is not theirs.
    expect((await judged({ ...slow, ...beside(400) })).cause?.kind).toBe('queue');
    const stood = { isQueue: true, serviceNs: standing(2e9, 1e6) };
    expect((await judged({ ...stood, ...beside(400) })).cause?.kind).toBe('standstill');
    const kept = await judged({ serviceNs: () => 1e6, ...beside(400) });
    expect([kept.cause, kept.rules]).toEqual([null, []]);
  });

  it('is a SUT that stopped answering, with when, and for how long it was waited for', async () => {
    const { cause, rules, reasons } = await judged({
      serviceNs: (sample) => (sample < 1000 ? 1e6 : Number.NaN),
    });
    expect(cause?.text).toMatch(/^the SUT stopped answering after (10|9\.\d+|10\.\d+) s$/);
    expect(rules).toEqual(['stall']);
    expect(reasons[0]?.text).toMatch(
      /run: no sample completed for \d[\d.]* s, from (10|9\.\d+|10\.\d+) s on, and [\d,]+ waited\. \d+ of \d+ issued samples were lost\.$/,
    );
  });

  it('is a SUT that never answered, which did not stop', async () => {
    const outcome = await outcomeOf({ serviceNs: () => Number.NaN });
    const { cause, reasons } = outcome.verdicts.longhaul;
    expect(cause?.text).toBe('the SUT never answered');
    expect(new KeptProbe().outcome(outcome, undefined).end.silentText).toBe('never answered');
    expect(reasons[0]?.text).toMatch(
      /^The SUT never answered during the performance run: no sample completed for 30(\.\d)? s, and [\d,]+ waited\. /,
    );
  });

  it('is a SUT that stopped answering: it is not silent while nothing waits, and what failed does not wait', async () => {
    // One a second until 10 s, then three more from 110 s on, of which none is answered. Sample 3
    // fails.
    const dueNs = Float64Array.from({ length: 14 }, (_, i) => (i < 11 ? i : i + 99) * 1e9);
    const given: Given = {
      arrivals: { kind: 'trace', text: 'trace:a', dueNs },
      serviceNs: (sample) => (sample < 11 ? 1e6 : Number.NaN),
      answer: (sink, id, atNs) => {
        if (id === 3) sink.fail(id, { code: 'inference', text: 'no' });
        else sink.complete(id, new Uint8Array(0), 0, atNs);
      },
    };
    const { cause, reasons } = await judged(given);
    expect(cause?.text).toBe('the SUT stopped answering after 110 s');
    const stall = reasons.find(({ rule }) => rule === 'stall');
    expect(stall?.text).toMatch(
      /no sample completed for 30(\.\d)? s, from 110 s on, and 3 waited\. 4 of 14 issued samples were lost\.$/,
    );
    // Nor did one that failed a sample never answer.
    const failed = await judged({
      ...given,
      serviceNs: (sample) => (sample === 3 ? 1e6 : Number.NaN),
    });
    expect(failed.cause?.text).toBe('the SUT completed no sample');
  });

  it('is no standstill where LoadGen stood still itself', async () => {
    const { cause } = await judged({ isQueue: true, serviceNs: () => 1e6, stopMs: 2_000 });
    expect(cause?.kind).toBe('loadgen');
  });

  it('is a queue that grew all through the run, also where the bound was kept', async () => {
    const late = { isQueue: true, serviceNs: () => 20e6 };
    const { cause, rules, advice, performance } = await judged({
      ...late,
      settings: { serverTargetLatencyNs: 60e9 },
    });
    expect(performance?.summary.isValid).toBe(true);
    expect(cause?.kind).toBe('queue');
    expect(cause?.text).toMatch(/^the SUT did not keep up: 50 of 9\d(\.\d)? queries\/s completed$/);
    expect(rules).toEqual(['not-kept-up']);
    expect(advice).toMatch(/^Try a lower --target-qps, for example 4\d(\.\d)?\.$/);
    // The bound is missed because of it.
    expect((await judged(late)).rules).toEqual(['not-kept-up']);
  });

  it('is a disturbed machine before the load, and what the SUT can do is not claimed', async () => {
    // One of twenty takes longer than the bound, and those behind it wait.
    const sut = { isQueue: true, serviceNs: (sample: number) => (sample % 20 === 0 ? 60e6 : 5e6) };
    const quiet = await judged(sut);
    expect(quiet.cause?.kind).toBe('load');
    expect(quiet.advice).toMatch(/^Too close to what the SUT can do: try a lower --target-qps/);
    const { cause, rules, advice } = await judged({ ...sut, health: { cpuWaitShare: 0.2 } });
    expect(cause?.kind).toBe('disturbed');
    expect(rules).toEqual(['latency-bound']);
    expect(advice).toMatch(/^LoadGen's machine was disturbed \(other work held its core: .* 20 % /);
    expect(advice).not.toContain('SUT can do');
  });

  it('is the load where nothing else explains a missed bound', async () => {
    const { cause, rules } = await judged({
      isQueue: true,
      serviceNs: (sample) => (sample % 50 === 0 ? 40e6 : 5e6),
    });
    expect([cause?.kind, rules]).toEqual(['load', ['latency-bound']]);
  });

  it('is none of a VALID run', async () => {
    const { cause, rules } = await judged({ isQueue: true, serviceNs: () => 1e6 });
    expect([cause, rules]).toEqual([null, []]);
  });
});

describe('a run beside its bound', () => {
  it('is told of a long standstill within it, which is no reason', async () => {
    const { performance, rules } = await judged({
      isQueue: true,
      serviceNs: standing(2e9, 1e6),
      settings: { serverTargetLatencyNs: 5e9 },
    });
    expect(rules).toEqual([]);
    const [note] = courseNotes(performance);
    expect(note).toMatch(
      /^the SUT answered nothing for (2|1\.9\d|2\.0\d) s, from .* s on: \d+ samples waited for it, none of them above the bound$/,
    );
    const short = await judged({ isQueue: true, serviceNs: standing(20e6, 1e6) });
    expect(short.performance?.course.keptStandstill).toBeNull();
  });

  it('is found to grow at twice the load that its SUT completes, however short', async () => {
    const { rules } = await judged({
      isQueue: true,
      serviceNs: () => 20e6,
      settings: { serverTargetLatencyNs: 30e9, minDurationMs: 1_000, minQueryCount: 700 },
    });
    expect(rules).toEqual(['not-kept-up']);
  });

  it('does not tell whether the SUT keeps up where it is too short', async () => {
    const { performance } = await judged({
      isQueue: true,
      serviceNs: (sample) => (sample % 7 === 0 ? 30e6 : 6e6),
      settings: { serverTargetLatencyNs: 3e9, minDurationMs: 1_000, minQueryCount: 300 },
    });
    const { state, queriesToTell } = performance?.course.keepingUp ?? {};
    expect(state).toBe('unknown');
    expect(queriesToTell).toBeGreaterThan(300);
  });

  it('takes a growth that LoadGen made for LoadGen', async () => {
    const { performance, rules } = await judged({ serviceNs: () => 1e6, otherWorkMs: 19 });
    expect(performance?.course.keepingUp?.state ?? 'kept').toBe('kept');
    expect(rules).toEqual(['generator-bound']);
  });

  it('of answers that take long for some is told so, and no rate is advised', async () => {
    const serviceNs = (sample: number): number => (sample % 10 === 0 ? 40e6 : 1e6);
    const { cause, advice } = await judged({ serviceNs });
    expect(cause?.kind).toBe('load');
    expect(advice).toMatch(/^The late queries did not wait behind others: .* may not help\.$/);
  });

  it('that lost samples claims nothing of the slow ones', async () => {
    const serviceNs = (): number => 40e6;
    const { cause, rules, advice } = await judged({
      serviceNs,
      answer: (sink, id, atNs) => {
        if (id % 20 === 0) sink.fail(id, { code: 'inference', text: 'no' });
        else sink.complete(id, new Uint8Array(0), 0, atNs);
      },
    });
    expect(cause?.kind).toBe('errors');
    expect(cause?.text).toMatch(/^\d+ of [\d,]+ samples were lost$/);
    expect(rules.slice(0, 2)).toEqual(['lost-samples', 'latency-bound']);
    expect(advice).not.toContain('Too close');
  });

  it('that is too short for early stopping as well says both', async () => {
    const { cause, rules } = await judged({
      isQueue: true,
      serviceNs: (sample) => (sample === 150 ? 900e6 : 1e6),
      settings: { minDurationMs: 1_000, minQueryCount: 300 },
    });
    expect(cause?.kind).toBe('standstill');
    expect(rules).toEqual(['latency-bound', 'early-stopping']);
  });
});
