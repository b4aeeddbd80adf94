import { describe, expect, it } from 'vitest';
import type { SetProgress } from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
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

// Goal: a performance run ends when who asked for it has seen enough, its logs say so, and no one takes it for a result.
// Method: SUTs of known latency under simulated time.
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
      observer: { earlyEnd: { boundNs: 10e6, isDecided } },
    });
    expect(performance?.endCause).toBe('all-issued');
    expect(looks.length).toBeGreaterThanOrEqual(98);
    expect(looks[0]?.elapsedNs).toBe(100e6);
    const last = looks.at(-1) as SetProgress;
    expect(last.overlatencyQueries / last.completedQueries).toBeCloseTo(0.25, 2);
    expect(last.issuedQueries - last.completedQueries).toBeLessThan(40);
    // Of those that wait, the ones that take 20 ms are overdue after 10.
    expect(looks.some(({ overdueQueries }) => overdueQueries > 0)).toBe(true);
    expect(looks.every(({ overdueQueries }) => overdueQueries < 10)).toBe(true);
  });

  it('ends with all that was issued answered, and is INVALID in its own words', async () => {
    const test = simulatedTest(SERVER);
    const outcome = await test.run({
      observer: {
        earlyEnd: { boundNs: 10e6, isDecided: ({ elapsedNs }) => elapsedNs >= 500e6 },
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
      observer: { earlyEnd: { boundNs: 10e6, isDecided: () => false } },
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
    const [first, second] = outcome.verdicts.loadgen.reasons;
    expect(first?.text).toContain('(first: it has 5 bytes, not 4)');
    expect(second).toMatchObject({ rule: 'all-failed' });
    const errors = errorTexts(outcome.logFiles.detail);
    expect(errors.some((text) => text.includes('No sample was answered'))).toBe(true);
  });
});
