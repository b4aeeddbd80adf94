import { describe, expect, it } from 'vitest';
import type {
  SeenBound,
  SetProgress,
} from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { QueryBound } from '../../../../../loadgen-node/loadgen/settings/query-bounds.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { errorTexts, readDetailLog } from '../../../../scenes/simulated-run/run-logs.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';

const SERVER: Partial<TestSettings> = {
  scenario: 'Server',
  mode: 'PerformanceOnly',
  serverTargetQps: 1000,
  serverTargetLatencyNs: 10_000_000,
  minDurationMs: 10_000,
};

const LATENCY: QueryBound = { name: 'latency', ns: 10e6, percentile: 0.99 };

// Goal: a performance run ends when who asked for it has seen enough, its logs say so, and no one
// takes it for a result. Method: SUTs of known latency under simulated time.
describe('a run that may end early', () => {
  it('is asked ten times a second with what is known', async () => {
    const looks: SetProgress[] = [];
    // Every fourth query takes longer than the bound.
    const test = simulatedTest(SERVER, { serviceNs: (sample) => (sample % 4 === 3 ? 20e6 : 1e6) });
    const isDecided = (seen: SetProgress): boolean => {
      looks.push(seen);
      return false;
    };
    const { performance } = await test.run({
      observer: { earlyEnd: { bounds: [LATENCY], isDecided } },
    });
    expect(performance?.endCause).toBe('all-issued');
    expect(looks.length).toBeGreaterThanOrEqual(98);
    expect(looks[0]?.elapsedNs).toBe(100e6);
    const last = looks.at(-1) as SetProgress;
    const [seen] = last.bounds as [SeenBound];
    expect(seen.over / seen.known).toBeCloseTo(0.25, 2);
    expect(last.waitingQueries).toBeLessThan(40);
    // Of those that wait, the ones that take 20 ms are overdue after 10.
    const overdue = looks.map(
      ({ issuedQueries, waitingQueries, bounds: [bound] }) =>
        (bound?.known ?? 0) - (issuedQueries - waitingQueries),
    );
    expect(overdue.some((count) => count > 0)).toBe(true);
    expect(overdue.every((count) => count >= 0 && count < 10)).toBe(true);
  });

  it('is told of both bounds on tokens, and who waits for the first one', async () => {
    const looks: SetProgress[] = [];
    const bounds = { serverTtftLatencyNs: 10e6, serverTpotLatencyNs: 5e6 };
    const settings = { ...SERVER, ...bounds, useTokenLatencies: true };
    // First tokens after 2 ms, but of every tenth after 17; of every fifth each other one takes 6
    // ms, not 1.
    const lengthNs = (id: number): number => (id % 5 === 2 ? 18e6 : 3e6);
    const { performance } = await simulatedTest(settings, {
      serviceNs: (id) => lengthNs(id) + (id % 10 === 3 ? 17e6 : 2e6),
      answer: (sink, id, atNs) => {
        sink.firstToken(id, new Uint8Array(4), atNs - lengthNs(id));
        sink.complete(id, new Uint8Array(16), 4, atNs);
      },
    }).run({
      observer: {
        earlyEnd: {
          bounds: [
            { ...LATENCY, name: 'ttft' },
            { ...LATENCY, name: 'tpot', ns: 5e6 },
          ],
          isDecided: (seen) => looks.push(seen) < 0,
        },
      },
    });
    const last = looks.at(-1) as SetProgress;
    const [ttft, tpot] = last.bounds as [SeenBound, SeenBound];
    expect(ttft.over / ttft.known).toBeCloseTo(0.1, 2);
    expect(tpot.over / tpot.known).toBeCloseTo(0.2, 2);
    expect(performance?.summary.tokens?.good?.samples).toBeCloseTo(
      0.7 * (performance?.summary.completedSampleCount ?? 0),
      -2,
    );
    expect(last.waitingQueries).toBeLessThan(40);
  });

  it('ends with all that was issued answered, and is INVALID in its own words', async () => {
    const test = simulatedTest(SERVER);
    const outcome = await test.run({
      observer: {
        earlyEnd: {
          bounds: [LATENCY],
          isDecided: ({ elapsedNs }) => elapsedNs >= 500e6,
        },
      },
    });
    const { performance, verdicts, logFiles } = outcome;
    expect(performance?.endCause).toBe('decided');
    expect(performance?.counts.lostSamples).toBe(0);
    expect(performance?.counts.issuedQueries).toBeLessThan(700);
    expect(verdicts.loadgen.reasons.map(({ rule }) => rule)).toContain('decided');
    expect(errorTexts(logFiles.detail)).toContain(
      'Ending early: Enough was seen to decide. LoadGen would go on: the run is INVALID.',
    );
    const validity = readDetailLog(logFiles.detail).find(({ key }) => key === 'result_validity');
    expect(validity?.value).toBe('INVALID');
    expect(test.sut.complaints).toEqual([]);
  });

  it('ends at a lost sample without asking', async () => {
    const test = simulatedTest(SERVER, {
      serviceNs: (sample) => (sample === 50 ? 1e6 : 2e6),
      answer: (sink, responseId, atNs) =>
        responseId === 50
          ? sink.fail(responseId, { code: 'limit', text: 'queue is full' })
          : sink.complete(responseId, new Uint8Array(), 0, atNs),
    });
    const { performance } = await test.run({
      observer: { earlyEnd: { bounds: [LATENCY], isDecided: () => false } },
    });
    expect(performance?.endCause).toBe('decided');
    expect(performance?.counts.lostSamples).toBe(1);
    expect(performance?.counts.issuedQueries).toBeLessThan(150);
  });
});

// Goal: nobody waits for a run of which nothing can come. Method: a SUT that answers no sample.
describe('a run of which every sample fails', () => {
  it.each([
    ['SingleStream', { ...SERVER, scenario: 'SingleStream' } as const],
    ['Server', SERVER],
  ])('ends at once where none of its first samples is answered, in %s', async (_name, settings) => {
    const test = simulatedTest(settings, {
      answer: (sink, id) => sink.fail(id, { code: 'bad-sample', text: 'it has 5 bytes, not 4' }),
    });
    const outcome = await test.run();
    expect(outcome.performance?.endCause).toBe('all-failed');
    expect(outcome.performance?.counts.issuedSamples).toBeLessThan(30);
    const { loadgen, longhaul } = outcome.verdicts;
    expect(loadgen.reasons.map(({ rule }) => rule).slice(0, 2)).toEqual([
      'all-failed',
      'lost-samples',
    ]);
    // What follows from it is no reason of its own.
    expect(longhaul.reasons.map(({ rule }) => rule)).toEqual(['all-failed']);
    expect(longhaul.reasons[0]?.text).toContain('(first: it has 5 bytes, not 4)');
    const errors = errorTexts(outcome.logFiles.detail);
    expect(errors.some((text) => text.includes('No sample was answered'))).toBe(true);
  });
});
