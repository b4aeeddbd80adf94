import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BEFORE_ISSUE,
  NOT_ISSUED,
  RECORDED,
  SECOND_RESPONSE,
  UNKNOWN_SAMPLE,
} from '../../../../../loadgen-node/loadgen/recorder/recording.ts';
import {
  type LoggedResponse,
  ResponseRecorder,
} from '../../../../../loadgen-node/loadgen/recorder/response-recorder.ts';
import { SampleRecorder } from '../../../../../loadgen-node/loadgen/recorder/sample-recorder.ts';
import { clockFactor, ToldTimes } from '../../../../../loadgen-node/loadgen/recorder/told-times.ts';
import type { QueryPlan } from '../../../../../loadgen-node/loadgen/schedule/query-plan.ts';

function planOf(scheduledNs: readonly number[], samplesPerQuery = 1): QueryPlan {
  const queryCount = scheduledNs.length;
  return {
    queryCount,
    samplesPerQuery,
    sampleIndices: new Uint32Array(queryCount * samplesPerQuery),
    scheduledDeltaNs: Float64Array.from(scheduledNs),
    periodNs: 0,
    generatedQueryCount: queryCount,
    generatedDurationNs: 0,
  };
}

// Goal: times and counts of every sample are kept, and a response is believed only once.
// Method: small plans, times by hand; then random events against plain bookkeeping.
describe('SampleRecorder', () => {
  it('counts latency from the schedule and lag to the issue', () => {
    const recorder = new SampleRecorder(planOf([0, 100]), 'plan');
    recorder.begin(1000);
    recorder.issue(1010);
    recorder.issue(1130);
    expect(recorder.complete(1, 1150)).toBe(RECORDED);
    expect(recorder.complete(0, 1140)).toBe(RECORDED);
    expect([...recorder.completedLatenciesNs()]).toEqual([140, 50]);
    expect([...recorder.completedLatenciesNs(true)]).toEqual([130, 20]);
    expect([...recorder.dispatchLagsNs()]).toEqual([10, 30]);
    expect(recorder.finalQuery()).toEqual({ scheduledNs: 100, issuedNs: 130, doneNs: 150 });
    expect(recorder.lastCompletionNs).toBe(150);
  });

  it('takes the last sample of a query for its latency, and leaves queries with a loss out', () => {
    const recorder = new SampleRecorder(planOf([0, 0], 2), 'issue');
    recorder.begin(0);
    recorder.issue(10);
    recorder.issue(20);
    recorder.complete(1, 30);
    recorder.complete(0, 25);
    recorder.complete(2, 40);
    recorder.lose(3);
    expect([...recorder.completedQueryLatenciesNs()]).toEqual([20]);
    expect(recorder.finalQuery().doneNs).toBe(40);
  });

  it.each<[string, number, number]>([
    ['behind the end', 3, UNKNOWN_SAMPLE],
    ['before the beginning', -1, UNKNOWN_SAMPLE],
    ['between two samples', 0.5, UNKNOWN_SAMPLE],
    ['that is no number', Number.NaN, UNKNOWN_SAMPLE],
    ['of a query to come', 2, NOT_ISSUED],
    ['completed before', 0, SECOND_RESPONSE],
    ['lost before', 1, SECOND_RESPONSE],
  ])('refuses a sample %s', (_case, sample, problem) => {
    const recorder = new SampleRecorder(planOf([0, 0, 0]), 'start');
    recorder.begin(0);
    recorder.issue(0);
    recorder.issue(0);
    recorder.complete(0, 1);
    recorder.lose(1);
    expect(recorder.complete(sample, 5)).toBe(problem);
    expect(recorder.lose(sample)).toBe(problem);
    expect(recorder.completedSamples).toBe(1);
    expect(recorder.lostSamples).toBe(1);
  });

  it.each([9, Number.NaN])('refuses a completion at %s when the issue was at 10', (atNs) => {
    const recorder = new SampleRecorder(planOf([0]), 'plan');
    recorder.begin(0);
    recorder.issue(10);
    expect(recorder.complete(0, atNs)).toBe(BEFORE_ISSUE);
    expect(recorder.outstandingSamples).toBe(1);
  });

  it('balances issued, completed and lost after any events', () => {
    const event = fc.record({
      kind: fc.constantFrom('issue', 'complete', 'lose'),
      sample: fc.integer({ min: -2, max: 25 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), (events) => {
        const recorder = new SampleRecorder(planOf(new Array<number>(10).fill(0), 2), 'start');
        recorder.begin(0);
        const fates = new Map<number, string>();
        for (const { kind, sample } of events) applyEvent(recorder, fates, kind, sample);
        const completed = [...fates.values()].filter((fate) => fate === 'complete').length;
        expect(recorder.completedSamples).toBe(completed);
        expect(recorder.loseOutstanding()).toBe(recorder.issuedSamples - fates.size);
        expect(recorder.completedSamples + recorder.lostSamples).toBe(recorder.issuedSamples);
        expect(recorder.completedLatenciesNs()).toHaveLength(completed);
      }),
    );
  });
});

/** Does one event and checks that it was taken exactly if the sample was open. */
function applyEvent(
  recorder: SampleRecorder,
  fates: Map<number, string>,
  kind: string,
  sample: number,
): void {
  if (kind === 'issue') {
    if (recorder.issuedQueries < 10) recorder.issue(0);
    return;
  }
  const isOpen = sample >= 0 && sample < recorder.issuedSamples && !fates.has(sample);
  const result = kind === 'complete' ? recorder.complete(sample, 7) : recorder.lose(sample);
  expect(result === RECORDED).toBe(isOpen);
  if (isOpen) fates.set(sample, kind);
}

describe('ResponseRecorder', () => {
  // A transport's messages are Buffers, whose `slice` is a view: the next message would replace
  // what is kept.
  it('keeps copies of payloads whose memory is used again', () => {
    const message = Buffer.from('first');
    const kept: LoggedResponse[] = [];
    const recorder = new ResponseRecorder(true, (response) => kept.push(response));
    recorder.keepFirstToken(7, message.subarray(0, 2));
    recorder.add(7, 3, message.subarray(1), null);
    message.fill('x');
    recorder.handOn();
    expect(kept.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['irst']);
    expect(Buffer.from(recorder.takeFirstToken(7)).toString()).toBe('fi');
  });
});

// Goal: what a node tells of its time is believed as far as the two clocks can differ, and no
// further. Method: lengths.

const NO_TIMES = {
  ...{ receiveNs: 0, queueNs: 0, batchWaitNs: 0, preprocessNs: 0 },
  ...{ computeNs: 0, postprocessNs: 0, sendNs: 0 },
};

describe('clockFactor', () => {
  it.each([
    ['what is shorter', 1e9 - 1, 1e9, 1],
    ['what is as long', 1e9, 1e9, 1],
    ['what is 0.1 % longer', 1.001e9, 1e9, 1e9 / 1.001e9],
    ['what is 10 µs longer', 11_000, 1_000, 1 / 11],
    ['what is more than 0.1 % and 10 µs longer', 1.001e9 + 10_001, 1e9, Number.NaN],
    ['an hour of 23 ms', 3_600e9, 23e6, Number.NaN],
    ['something of nothing', 1, 0, Number.NaN],
  ])('takes %s', (_case, told, passed, factor) => {
    expect(clockFactor(told, passed)).toBe(factor);
  });
});

describe('ToldTimes', () => {
  it('counts what cannot be by node, and keeps the worst', () => {
    const times = new ToldTimes();
    const lengths = [
      [2, 1e6, 2e6],
      [2, 5e6, 2e6],
      [2, 9e6, 3e6],
      [2, 4e6, 2e6],
      [0, 1e6, 2e6],
    ] as const;
    for (const [sample, [node, toldNs, passedNs]] of lengths.entries()) {
      times.served(sample, node, { ...NO_TIMES, computeNs: toldNs }, 7);
      times.completed(sample, passedNs + 7);
    }
    // Neither another sample nor one without times is compared with them.
    times.served(9, 0, { ...NO_TIMES, computeNs: 9e6 }, 0);
    times.completed(8, 1);
    times.served(9, 0, undefined, 0);
    times.completed(9, 1);
    expect(times.excess).toEqual([{ node: 2, count: 3, ofCount: 4, toldNs: 9e6, passedNs: 3e6 }]);
  });
});
