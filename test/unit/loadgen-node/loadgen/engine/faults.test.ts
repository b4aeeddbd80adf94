import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestOutcome } from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import {
  type BorrowedBytes,
  readInPlace,
} from '../../../../../shared/base/bytes/borrowed-bytes.ts';
import { MlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import type { ResponseSink } from '../../../../../shared/domain/system-under-test.ts';
import { MemoryQsl } from '../../../../scenes/simulated-run/memory-qsl.ts';
import { errorTexts, readDetailLog } from '../../../../scenes/simulated-run/run-logs.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';

const NOTHING = new Uint8Array(0);
const SINGLE_STREAM: Partial<TestSettings> = {
  scenario: 'SingleStream',
  minDurationMs: 100,
  minQueryCount: 100,
};
const SERVER: Partial<TestSettings> = {
  scenario: 'Server',
  serverTargetQps: 1000,
  minDurationMs: 1000,
};

function rules(outcome: TestOutcome): { loadgen: string[]; longhaul: string[] } {
  const { loadgen, longhaul } = outcome.verdicts;
  return {
    loadgen: loadgen.reasons.map((reason) => reason.rule),
    longhaul: longhaul.reasons.map((reason) => reason.rule),
  };
}

/** Expects the counts to balance, as they must after any run. */
function expectBalance(outcome: TestOutcome): void {
  for (const phase of [outcome.accuracy, outcome.performance]) {
    if (phase === null) continue;
    const { issuedSamples, completedSamples, lostSamples } = phase.counts;
    expect(completedSamples + lostSamples).toBe(issuedSamples);
    const failed = phase.failures.reduce((sum, failure) => sum + failure.count, 0);
    expect(failed).toBe(lostSamples);
  }
}

// Goal: a run ends whatever the SUT does, every issued sample is accounted for, and nothing that
// went wrong ends as VALID. Method: a SUT that breaks the contract in one way, under simulated
// time.
describe('a SUT that loses samples', () => {
  it('goes on after a failed sample and is INVALID in both verdicts', async () => {
    const test = simulatedTest(SINGLE_STREAM, {
      answer: (sink, id, atNs) => {
        if (id === 20) sink.fail(id, { code: 'bad-sample', text: 'node 1 could not decode it' });
        else sink.complete(id, NOTHING, 0, atNs);
      },
    });
    const outcome = await test.run();
    expectBalance(outcome);
    expect(outcome.performance?.counts).toMatchObject({ issuedSamples: 101, lostSamples: 1 });
    expect(outcome.performance?.failures).toEqual([
      { code: 'bad-sample', count: 1, texts: [{ text: 'node 1 could not decode it', count: 1 }] },
    ]);
    expect(rules(outcome)).toEqual({ loadgen: ['lost-samples'], longhaul: ['lost-samples'] });
    expect(readFileSync(outcome.logFiles.summary, 'utf8')).toContain('Result is : INVALID');
    expect(errorTexts(outcome.logFiles.detail)).toEqual([
      '1 samples lost (bad-sample). First: node 1 could not decode it',
    ]);
  });

  it('ends after the stall timeout when a response is missing', async () => {
    const test = simulatedTest(SINGLE_STREAM, {
      serviceNs: (sample) => (sample === 20 ? Number.NaN : 1e6),
    });
    const outcome = await test.run();
    expectBalance(outcome);
    expect(outcome.performance?.endCause).toBe('stall');
    expect(outcome.performance?.counts).toMatchObject({ issuedSamples: 21, lostSamples: 1 });
    expect(outcome.performance?.durationNs).toBeGreaterThanOrEqual(30e9);
    expect(outcome.performance?.durationNs).toBeLessThan(31e9);
    expect(rules(outcome).loadgen).toEqual(expect.arrayContaining(['lost-samples', 'stall']));
    const [first] = outcome.verdicts.longhaul.reasons;
    expect(first?.text).toContain('1 of 21 issued samples were lost');
    expect(errorTexts(outcome.logFiles.detail)[1]).toMatch(/1 samples were lost/);
  });

  it('stalls even when an earlier response claims to come from the future', async () => {
    const test = simulatedTest(SINGLE_STREAM, {
      serviceNs: (sample) => (sample === 20 ? Number.NaN : 1e6),
      answer: (sink, id, atNs) => sink.complete(id, NOTHING, 0, atNs + (id === 5 ? 1e15 : 0)),
    });
    const outcome = await test.run();
    expect(outcome.performance?.endCause).toBe('stall');
    expect(outcome.performance?.durationNs).toBeLessThan(61e9);
  });

  it('ends an Offline run of which a part never comes', async () => {
    const test = simulatedTest(
      { scenario: 'Offline', minDurationMs: 1000 },
      { serviceNs: (sample) => (sample % 10 === 0 ? Number.NaN : 1e9) },
    );
    const outcome = await test.run();
    expectBalance(outcome);
    expect(outcome.performance?.counts).toMatchObject({ issuedSamples: 100, lostSamples: 10 });
    expect(outcome.performance?.summary.completedSampleCount).toBe(90);
    expect(outcome.performance?.summary.rates.completed).toBe(90);
  });

  it('ends a run in which nothing ever completes, with numbers that are 0', async () => {
    const test = simulatedTest(SERVER, { serviceNs: () => Number.NaN });
    const outcome = await test.run();
    expectBalance(outcome);
    expect(outcome.performance?.counts.completedSamples).toBe(0);
    expect(outcome.performance?.summary.sampleLatency.meanNs).toBe(0);
    readDetailLog(outcome.logFiles.detail); // Every line is JSON.
  });

  it('does not stall while a slow SUT answers within the timeout', async () => {
    const test = simulatedTest({ ...SINGLE_STREAM, minQueryCount: 3 }, { serviceNs: () => 29e9 });
    const outcome = await test.run();
    expect(outcome.performance?.endCause).toBe('natural');
  });

  it('does not stall while nothing is outstanding between two rare queries', async () => {
    const test = simulatedTest({ ...SERVER, serverTargetQps: 0.01, minQueryCount: 20 });
    const outcome = await test.run();
    expect(outcome.performance?.counts).toMatchObject({ issuedQueries: 20, lostSamples: 0 });
    expect(outcome.performance?.endCause).toBe('all-issued');
  });
});

describe('a SUT that breaks', () => {
  const fault = new MlperfError('ERR_SUT_LOST', 'node 1 is gone');

  it('gets no further query when it reports its lost samples before the fault', async () => {
    const test = simulatedTest(SINGLE_STREAM, {
      answer: (sink, id, atNs) => {
        if (id < 20) {
          sink.complete(id, NOTHING, 0, atNs);
          return;
        }
        sink.fail(id, { code: 'lost', text: 'node 1 is gone' });
        sink.fault(fault);
      },
    });
    const outcome = await test.run();
    expectBalance(outcome);
    expect(test.sut.queries).toHaveLength(21);
    expect(outcome.performance?.endCause).toBe('fault');
    expect(outcome.performance?.faultText).toBe('node 1 is gone');
    expect(rules(outcome).loadgen).toEqual(expect.arrayContaining(['lost-samples', 'fault']));
    expect(rules(outcome).longhaul).toEqual(['fault']);
    // The node is gone: its name is not asked for again, but it is flushed and stopped.
    expect(test.sut.calls).toEqual(['name', 'start', 'flush', 'stop']);
  });

  it('leaves the other samples the drain timeout to come in', async () => {
    let isBroken = false;
    const test = simulatedTest(SERVER, {
      // Every second sample hangs at the broken node.
      serviceNs: (sample) => (sample % 2 === 0 ? 50e6 : 3e9),
      afterIssue: (sink, query) => {
        if (query.id !== 100 || isBroken) return;
        isBroken = true;
        sink.fault(fault);
      },
    });
    const outcome = await test.run();
    expectBalance(outcome);
    expect(test.sut.queries).toHaveLength(101);
    expect(outcome.performance?.counts).toMatchObject({ completedSamples: 51, lostSamples: 50 });
    const brokenAtNs = test.sut.queries[100]?.issuedAtNs ?? 0;
    expect(test.clock.nowNs() - brokenAtNs).toBeGreaterThanOrEqual(2e9);
    expect(test.clock.nowNs() - brokenAtNs).toBeLessThan(2.1e9);
  });

  it('is treated as broken when issueQuery throws', async () => {
    const test = simulatedTest(SINGLE_STREAM, {
      afterIssue: (_sink, query) => {
        if (query.id === 5) throw new Error('not loaded');
      },
    });
    const outcome = await test.run();
    expect(outcome.performance?.endCause).toBe('fault');
    expect(outcome.performance?.faultText).toMatch(/issueQuery threw.*not loaded/);
  });

  it('ends a submission run in the accuracy phase', async () => {
    const test = simulatedTest(
      { ...SERVER, mode: 'SubmissionRun' },
      { afterIssue: (sink, query) => query.id === 9 && sink.fault(fault) },
      new MemoryQsl(100, 8),
    );
    const outcome = await test.run();
    expectBalance(outcome);
    expect(outcome.accuracy).toMatchObject({ endCause: 'fault', setsRun: 2 });
    expect(outcome.performance).toBeNull();
    expect(rules(outcome).loadgen).toContain('fault');
  });
});

describe('responses that break the contract', () => {
  const cases: [string, (sink: ResponseSink, id: number, atNs: number) => void, RegExp][] = [
    ['an id never given out', (s, _i, at) => s.complete(1e6, NOTHING, 0, at), /never given out/],
    ['a negative id', (s, _i, at) => s.complete(-1, NOTHING, 0, at), /never given out/],
    ['no number', (s, _i, at) => s.complete(Number.NaN, NOTHING, 0, at), /never given out/],
    ['an id between two', (s, _i, at) => s.complete(0.5, NOTHING, 0, at), /never given out/],
    ['a second response', (s, i, at) => s.complete(i, NOTHING, 0, at), /sample twice\. id 20/],
    ['a failure after completion', (s, i) => s.fail(i, { code: 'x', text: 'y' }), /twice/],
    ['a first token after completion', (s, i, at) => s.firstToken(i, NOTHING, at), /twice/],
    ['a sample not yet issued', (s, i, at) => s.complete(i + 9, NOTHING, 0, at), /not issued yet/],
  ];
  it.each(cases)('counts %s and is VALID for LoadGen only', async (_case, breakIt, text) => {
    const test = simulatedTest(SERVER, {
      answer: (sink, id, atNs) => {
        sink.complete(id, NOTHING, 0, atNs);
        if (id === 20) breakIt(sink, id, atNs);
      },
    });
    const outcome = await test.run();
    expectBalance(outcome);
    expect(outcome.performance?.counts).toMatchObject({
      issuedSamples: 944,
      completedSamples: 944,
      contractErrors: 1,
    });
    expect(rules(outcome)).toEqual({ loadgen: [], longhaul: ['contract-errors'] });
    expect(errorTexts(outcome.logFiles.detail)).toEqual([expect.stringMatching(text)]);
    const summary = readFileSync(outcome.logFiles.summary, 'utf8');
    expect(summary).toContain('Result is : VALID');
    expect(summary).toContain("longhaul's verdict : INVALID");
    expect(summary).toContain('1 ERROR encountered.');
  });

  it('does not believe a time before the issue', async () => {
    const test = simulatedTest(SERVER, {
      serviceNs: () => 5e6,
      answer: (sink, id, atNs) => sink.complete(id, NOTHING, 0, id === 20 ? atNs - 6e6 : atNs),
    });
    const outcome = await test.run();
    expect(outcome.performance?.summary.sampleLatency.minNs).toBe(5e6);
    expect(outcome.performance?.counts.contractErrors).toBe(1);
  });

  it('counts a response of an earlier set', async () => {
    const test = simulatedTest(
      { ...SERVER, mode: 'AccuracyOnly' },
      {
        answer: (sink, id, atNs) => {
          sink.complete(id, NOTHING, 0, atNs);
          if (id === 8) sink.complete(0, NOTHING, 0, atNs);
        },
      },
      new MemoryQsl(20, 8),
    );
    const outcome = await test.run();
    expect(outcome.accuracy?.counts.contractErrors).toBe(1);
    expect(errorTexts(outcome.logFiles.detail)).toEqual([
      'Received a response after the end of its set. id 0',
    ]);
  });

  it('names the first hundred of a flood and counts the rest', async () => {
    const test = simulatedTest(SERVER, {
      afterIssue: (sink) => sink.complete(1e9, NOTHING, 0, sink.nowNs()),
    });
    const outcome = await test.run();
    expect(outcome.performance?.counts.contractErrors).toBe(944);
    const texts = errorTexts(outcome.logFiles.detail);
    expect(texts).toHaveLength(101);
    expect(texts[100]).toMatch(/^844 more/);
  });
});

describe('an interrupted test', () => {
  it('ends within a second, with logs that say so', async () => {
    const abort = new AbortController();
    const test = simulatedTest(SERVER, { serviceNs: (sample) => (sample === 50 ? 60e9 : 1e6) });
    test.clock.callAt(test.clock.nowNs() + 100e6, () => abort.abort());
    const beginNs = test.clock.nowNs();
    const outcome = await test.run({ signal: abort.signal });
    expectBalance(outcome);
    expect(outcome.isInterrupted).toBe(true);
    expect(outcome.performance?.endCause).toBe('interrupted');
    expect(outcome.performance?.counts.lostSamples).toBe(1);
    expect(test.clock.nowNs() - beginNs).toBeLessThan(1.2e9);
    expect(rules(outcome).loadgen).toContain('interrupted');
    expect(errorTexts(outcome.logFiles.detail)[0]).toMatch(/interrupted.*incomplete/);
    expect(readFileSync(outcome.logFiles.summary, 'utf8')).toContain('INCOMPLETE');
    expect(test.sut.calls).toEqual(['name', 'start', 'flush', 'stop']);
  });

  it('does not wait for samples that are being loaded', async () => {
    const abort = new AbortController();
    const qsl = new MemoryQsl(100);
    qsl.loadSamplesToRam = () => new Promise(() => abort.abort());
    const test = simulatedTest(SERVER, {}, qsl);
    const outcome = await test.run({ signal: abort.signal });
    expect(outcome).toMatchObject({ isInterrupted: true, performance: null });
    expect(outcome.verdicts.longhaul.isValid).toBe(false);
    expect(test.sut.queries).toEqual([]);
    expect(test.sut.calls.at(-1)).toBe('stop');
  });

  it('asks the SUT for nothing when it was interrupted before', async () => {
    const test = simulatedTest({ ...SERVER, mode: 'SubmissionRun' });
    const outcome = await test.run({ signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ isInterrupted: true, accuracy: null, performance: null });
    expect(test.sut.queries).toEqual([]);
  });
});

describe('the name of the SUT', () => {
  it('is timed by the clock of the test', async () => {
    const outcome = await simulatedTest(SERVER).run();
    expect(outcome).toMatchObject({
      sutName: 'Network SUT of the test',
      sutNameDurationNs: 12_345,
    });
  });

  it.each<[string, (string | Error)[], RegExp]>([
    ['changes during the run', ['A', 'B'], /changed during the run, from "A" to "B"/],
    ['cannot be had after the run', ['A', new Error('nothing listens there')], /nothing listens/],
  ])('makes the run INVALID when it %s, with complete logs', async (_case, names, text) => {
    const outcome = await simulatedTest(SERVER, { names }).run();
    expect(rules(outcome)).toEqual({ loadgen: [], longhaul: ['sut-name'] });
    expect(outcome.verdicts.longhaul.reasons[0]?.text).toMatch(text);
    const keys = readDetailLog(outcome.logFiles.detail).map((line) => line.key);
    expect(keys).toContain('result_99.90_percentile_latency_ns');
    expect(errorTexts(outcome.logFiles.detail)).toEqual([expect.stringMatching(text)]);
  });

  it('stops the test when it cannot be had at the start', async () => {
    const error = new MlperfError('ERR_SUT_NAME', 'node 1 has an empty name');
    const test = simulatedTest(SERVER, { names: [error] });
    await expect(test.run()).rejects.toBe(error);
    expect(test.sut.calls).toEqual(['name', 'stop']);
    expect(errorTexts(join(test.outdir, 'mlperf_log_detail.txt'))[0]).toMatch(/empty name/);
  });
});

describe('a SUT that answers with bytes of another sample', () => {
  /** Of a library that knows the response to each sample: its index. */
  class EchoQsl extends MemoryQsl {
    readonly compared: number[] = [];
    readonly isRight = (sampleIndex: number, response: BorrowedBytes): boolean => {
      this.compared.push(sampleIndex);
      return readInPlace(response)[0] === sampleIndex;
    };
  }

  it.each(['PerformanceOnly', 'AccuracyOnly'] as const)(
    'is INVALID, with their number, and each is compared: %s',
    async (mode) => {
      const qsl = new EchoQsl(100);
      const wrong = new Set([3, 50]);
      const responseOf = (index: number): Uint8Array =>
        Uint8Array.of(wrong.has(index) ? index + 1 : index);
      const outcome = await simulatedTest({ ...SINGLE_STREAM, mode }, { responseOf }, qsl).run();
      const phase = outcome.performance ?? outcome.accuracy;
      expect(qsl.compared).toHaveLength(phase?.counts.completedSamples as number);
      const count = qsl.compared.filter((index) => wrong.has(index)).length;
      expect(count).toBeGreaterThan(0);
      const [reason] = outcome.verdicts.longhaul.reasons;
      expect(reason?.text).toBe(
        `The SUT broke the contract ${count} ${count === 1 ? 'time' : 'times'} with its responses (${count} have not the bytes of their sample); ` +
          'the detail log names them.',
      );
      expect(outcome.verdicts.loadgen.reasons).toEqual([]);
      expect(errorTexts(outcome.logFiles.detail)[0]).toMatch(
        /that has not the bytes of its sample/,
      );
    },
  );
});
