import { describe, expect, it } from 'vitest';
import type {
  TestOutcome,
  VerdictReason,
} from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { GeneratorHealth } from '../../../../../loadgen-node/loadgen/results/generator-health.ts';
import { closedLoop } from '../../../../../loadgen-node/loadgen/schedule/arrivals/arrivals.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { adviceOn } from '../../../../../loadgen-node/present/text/advice.ts';
import type { ResponseSink } from '../../../../../shared/domain/system-under-test.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';
import { generatorHealth, monitorThatTells } from '../../../../scenes/simulated-run/summary.ts';

type Answer = (sink: ResponseSink, responseId: number, atNs: number) => void;

/** Advice on each reason of a run's INVALID, by the rule. */
async function adviceOf(
  settings: Partial<TestSettings>,
  serviceNs: (sample: number) => number = () => 1_000_000,
  answer?: Answer,
): Promise<Record<string, string>> {
  const outcome: TestOutcome = await simulatedTest(settings, {
    serviceNs,
    ...(answer && { answer }),
  }).run();
  expect(outcome.verdicts.longhaul.isValid).toBe(false);
  return Object.fromEntries(
    outcome.verdicts.longhaul.reasons.map((reason) => [reason.rule, adviceOn(reason, outcome)]),
  );
}

/** The number that the advice gives for a flag. */
function advised(advice: string | undefined, flag: string): number {
  return Number(new RegExp(`${flag} ([\\d.]+)`).exec(advice ?? '')?.[1]?.replace(/\.$/, ''));
}

// Goal: a person who follows the advice gets a valid run.
// Method: an INVALID run under simulated time, then the same with the advised value.
describe('advice', () => {
  it('names the queries that early stopping of a stream still needs', async () => {
    const settings = { scenario: 'SingleStream', minDurationMs: 0, minQueryCount: 30 } as const;
    const advice = (await adviceOf(settings))['early-stopping'];
    expect(advice).toBe('Needs 34 more queries: set --min-query-count 64, or --min-duration 1s.');
    const outcome = await simulatedTest({ ...settings, minQueryCount: 64 }).run();
    expect(outcome.verdicts.longhaul.isValid).toBe(true);
  });

  it('counts on the same share of slow queries in a longer Server run', async () => {
    const settings = {
      scenario: 'Server',
      serverTargetQps: 1000,
      serverTargetLatencyNs: 10_000_000,
      minDurationMs: 0,
      minQueryCount: 1000,
    } as const;
    const serviceNs = (sample: number): number => (sample % 200 === 7 ? 20e6 : 1e6);
    const advice = (await adviceOf(settings, serviceNs))['early-stopping'];
    expect(advice).toMatch(/^Needs [\d,]+ more queries if all of them are within the bound/);
    const minQueryCount = advised(advice, '--min-query-count');
    expect(minQueryCount).toBeGreaterThan(1000);
    const again = simulatedTest({ ...settings, minQueryCount }, { serviceNs });
    expect((await again.run()).verdicts.loadgen.isValid).toBe(true);
    const minDurationMs = 1000 * Number(/--min-duration (\d+)s\.$/.exec(advice ?? '')?.[1]);
    const longer = simulatedTest({ ...settings, minDurationMs }, { serviceNs });
    expect((await longer.run()).verdicts.loadgen.isValid).toBe(true);
  });

  it('raises the expected rate of a stream that had no queries left', async () => {
    const settings = {
      scenario: 'SingleStream',
      singleStreamExpectedLatencyNs: 10_000_000,
      minDurationMs: 1000,
    } as const;
    const qps = advised((await adviceOf(settings))['min-duration'], '--target-qps');
    const singleStreamExpectedLatencyNs = 1e9 / qps;
    const outcome = await simulatedTest({ ...settings, singleStreamExpectedLatencyNs }).run();
    expect(outcome.verdicts.longhaul.isValid).toBe(true);
  });

  it('raises the expected rate of an Offline query that was too short', async () => {
    const settings = { scenario: 'Offline', offlineExpectedQps: 10, minDurationMs: 1000 } as const;
    const serviceNs = (sample: number): number => (sample + 1) * 1e6;
    const offlineExpectedQps = advised(
      (await adviceOf(settings, serviceNs))['min-duration'],
      '--target-qps',
    );
    const again = simulatedTest({ ...settings, offlineExpectedQps }, { serviceNs });
    expect((await again.run()).verdicts.longhaul.isValid).toBe(true);
  });

  it('names the limit that ended a run', async () => {
    const advice = await adviceOf({
      scenario: 'SingleStream',
      minDurationMs: 1000,
      maxQueryCount: 200,
    });
    expect(advice['min-duration']).toMatch(/^--max-query-count ended the run: set it to 11\d\d or/);
  });

  it('names the line of a file that ended a run, and what early stopping needs beside it', async () => {
    const settings = { scenario: 'SingleStream', minDurationMs: 1000, minQueryCount: 50 } as const;
    const outcome = await simulatedTest(
      { ...settings, maxDurationMs: 30 },
      { serviceNs: () => 1e6 },
    ).run();
    const limitLines = { max_duration: 'user.conf:3', max_query_count: undefined };
    const advice = outcome.verdicts.longhaul.reasons.map((reason) => [
      reason.rule,
      adviceOn(reason, outcome, { limitLines }),
    ]);
    const limit =
      'max_duration in user.conf:3 ended the run: set it to 2000 there, or --max-duration 2s.';
    expect(Object.fromEntries(advice)).toMatchObject({
      'min-duration': limit,
      'min-queries': limit,
      'early-stopping': expect.stringMatching(
        /set --min-query-count 64, .* max_duration in user\.conf:3/,
      ),
    });
    const again = simulatedTest({ ...settings, maxDurationMs: 2000, minQueryCount: 64 });
    expect((await again.run()).verdicts.longhaul.isValid).toBe(true);
  });

  it('with tokens goes by their bounds, not by that of the latency', async () => {
    const settings = {
      scenario: 'Server',
      serverTargetQps: 100,
      // Every query is above it, and nobody asks.
      serverTargetLatencyNs: 1,
      minDurationMs: 0,
      minQueryCount: 100,
      useTokenLatencies: true,
      serverTtftLatencyNs: 20_000_000,
      serverTpotLatencyNs: 20_000_000,
    } as const;
    const answer: Answer = (sink, id, atNs) => {
      sink.firstToken(id, Uint8Array.of(1), atNs);
      sink.complete(id, Uint8Array.of(1), 5, atNs);
    };
    const advice = (await adviceOf(settings, undefined, answer))['early-stopping'];
    expect(advice).toMatch(
      /^Needs \d+ more queries: set --min-query-count \d+, or --min-duration \d+s\.$/,
    );
    const minQueryCount = advised(advice, '--min-query-count');
    const outcome = await simulatedTest({ ...settings, minQueryCount }, { answer }).run();
    expect(outcome.verdicts.longhaul.isValid).toBe(true);
  });

  it('names no rate where most queries are above the bound of a SUT that takes so long', async () => {
    const settings = {
      scenario: 'Server',
      serverTargetQps: 100,
      serverTargetLatencyNs: 500_000,
      minDurationMs: 1000,
    } as const;
    // One of a thousand is fast enough: a lower rate may help the others.
    const advice = await adviceOf(settings, (sample) => (sample === 7 ? 100_000 : 1_000_000));
    expect(advice['latency-bound']).toMatch(
      /^The late queries did not wait behind others: .* a lower --target-qps may not help\.$/,
    );
    // Too few also if none were late.
    expect(advice['early-stopping']).toMatch(
      /^Even with none above the bound it takes 459 queries: set --min-query-count 459,/,
    );
  });

  it.each<[string, Partial<Pick<GeneratorHealth, 'throttled'>>, RegExp]>([
    ['other work', {}, /^Give the LoadGen node a machine, .* or take a lower --concurrency\.$/],
    [
      'a CPU limit',
      { throttled: { periods: 10, throttledPeriods: 9, totalNs: 1e9 } },
      /^Raise the CPU limit .*, or take a lower --concurrency\.$/,
    ],
  ])(
    'names no load where a closed loop has none: LoadGen was held up by %s',
    async (_, more, text) => {
      const settings = { scenario: 'Server', serverTargetQps: 1e4, minDurationMs: 1000 } as const;
      const arrivals = closedLoop(3);
      const outcome = await simulatedTest(settings, { serviceNs: () => 5e6 }).run({
        arrivals,
        observer: {
          generatorMonitor: monitorThatTells(
            generatorHealth({ cpuShare: 0.5, cpuWaitShare: 0.5, ...more }),
          ),
        },
      });
      const { reasons } = outcome.verdicts.longhaul;
      const reason = reasons.find(({ rule }) => rule === 'generator-bound') ?? reasons[0];
      expect(reason?.rule).toBe('generator-bound');
      expect(adviceOn(reason as VerdictReason, outcome, { arrivals })).toMatch(text);
    },
  );

  it('says that no rate helps where even the fastest query is above the bound', async () => {
    const settings = {
      scenario: 'Server',
      serverTargetQps: 100,
      serverTargetLatencyNs: 500_000,
      minDurationMs: 1000,
    } as const;
    expect((await adviceOf(settings))['latency-bound']).toMatch(
      /^Even the fastest query took 1 ms, above the bound of 500 µs: no --target-qps helps/,
    );
  });

  it.each([
    [
      { serverTtftLatencyNs: 40e6 },
      /^Even the shortest TTFT was 50 ms, above the bound of 40 ms: no --target-qps helps.*--ttft/,
    ],
    [
      { serverTpotLatencyNs: 2e6 },
      /^Even the shortest TPOT was 5 ms, above the bound of 2 ms: no --target-qps helps.*--tpot/,
    ],
    [{ serverTtftLatencyNs: 51e6 }, /^The late queries did not wait behind others/],
  ])('says that no rate helps where no sample kept a bound on tokens: %o', async (bound, text) => {
    const settings = {
      ...({ scenario: 'Server', serverTargetQps: 10, minDurationMs: 10_000 } as const),
      ...{ useTokenLatencies: true, serverTtftLatencyNs: 1e9, serverTpotLatencyNs: 1e9 },
      ...bound,
    };
    // One of them is as fast as can be.
    const serviceNs = (sample: number): number => (sample === 7 ? 70e6 : 80e6);
    const answer: Answer = (sink, id, atNs) => {
      sink.firstToken(id, Uint8Array.of(1), atNs - 20e6);
      sink.complete(id, Uint8Array.of(1), 5, atNs);
    };
    const advice = await adviceOf(settings, serviceNs, answer);
    expect(advice['latency-bound']).toMatch(text);
  });

  it.each([
    { scenario: 'Offline', offlineExpectedQps: 10 },
    { scenario: 'SingleStream', singleStreamExpectedLatencyNs: 1e7 },
    { scenario: 'Server', serverTargetQps: 100, serverTargetLatencyNs: 1e6 },
  ] as const)('changes no setting where nothing was answered: $scenario', async (settings) => {
    const answer: Answer = (sink, id) => sink.fail(id, { code: 'inference', text: 'no' });
    const advice = Object.values(
      await adviceOf({ ...settings, minDurationMs: 1000 }, undefined, answer),
    );
    expect(advice.join(' ')).toMatch(
      /No sample got a valid response.*look at why the samples failed/,
    );
    expect(advice.join(' ')).not.toContain('--');
  });
});
