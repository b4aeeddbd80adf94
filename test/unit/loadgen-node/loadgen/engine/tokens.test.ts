import { describe, expect, it } from 'vitest';
import type { RunProgress } from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import type { ResponseSink } from '../../../../../shared/domain/system-under-test.ts';
import { errorTexts } from '../../../../scenes/simulated-run/run-logs.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';

const NOTHING = new Uint8Array(0);

const SERVER: Partial<TestSettings> = {
  scenario: 'Server',
  serverTargetQps: 500,
  minDurationMs: 2000,
  useTokenLatencies: true,
  serverTtftLatencyNs: 20_000_000,
  serverTpotLatencyNs: 1_000_000,
};

/** Answers in tokens; what happens to sample 50 is up to the test. */
function tokenTest(
  settings: Partial<TestSettings>,
  atSample50: (sink: ResponseSink, responseId: number, atNs: number) => void,
) {
  return simulatedTest(settings, {
    answer: (sink, responseId, atNs) => {
      if (responseId === 50) {
        atSample50(sink, responseId, atNs);
        return;
      }
      sink.firstToken(responseId, NOTHING, atNs);
      sink.complete(responseId, NOTHING, 5, atNs);
    },
  });
}

// Goal: a SUT that is wrong about tokens is named, counted and INVALID for longhaul; LoadGen's
// verdict, which ignores errors, stays as it is. Method: one sample of a good run breaks the
// contract in one way.
describe('contract of token models', () => {
  it.each<[string, (sink: ResponseSink, id: number, atNs: number) => void, string]>([
    [
      'no first token',
      (sink, id, atNs) => sink.complete(id, NOTHING, 5, atNs),
      'first token latency',
    ],
    [
      'its first token twice',
      (sink, id, atNs) => {
        sink.firstToken(id, NOTHING, atNs);
        sink.firstToken(id, NOTHING, atNs);
        sink.complete(id, NOTHING, 5, atNs);
      },
      'twice',
    ],
    [
      'its first token after its completion',
      (sink, id, atNs) => {
        sink.firstToken(id, NOTHING, atNs);
        sink.complete(id, NOTHING, 5, atNs);
        sink.firstToken(id, NOTHING, atNs);
      },
      'twice',
    ],
    ...[
      [0, 'record 0 as number'],
      [1, 'greater than 1'],
      [-3, 'negative'],
      [Number.NaN, 'record 0 as number'],
    ].map(
      ([count, text]) =>
        [
          `${count} tokens`,
          (sink: ResponseSink, id: number, atNs: number) => {
            sink.firstToken(id, NOTHING, atNs);
            sink.complete(id, NOTHING, Number(count), atNs);
          },
          String(text),
        ] as [string, (sink: ResponseSink, id: number, atNs: number) => void, string],
    ),
    [
      'the first token of a sample that nobody asked for',
      (sink, id, atNs) => {
        sink.firstToken(1e9, NOTHING, atNs);
        sink.firstToken(id, NOTHING, atNs);
        sink.complete(id, NOTHING, 5, atNs);
      },
      'never given out',
    ],
  ])('names a sample with %s', async (_case, atSample50, text) => {
    const { verdicts, performance, logFiles } = await tokenTest(SERVER, atSample50).run();
    expect(errorTexts(logFiles.detail)).toEqual([expect.stringContaining(text)]);
    expect(performance?.counts.contractErrors).toBe(1);
    expect(performance?.counts.lostSamples).toBe(0);
    expect(verdicts.loadgen.isValid).toBe(true);
    expect(verdicts.longhaul.reasons.map(({ rule }) => rule)).toEqual(['contract-errors']);
  });

  it('needs no first token in Offline', async () => {
    const settings: Partial<TestSettings> = { ...SERVER, scenario: 'Offline', minDurationMs: 0 };
    const test = simulatedTest(settings, {
      answer: (sink, id, atNs) => sink.complete(id, NOTHING, 7, atNs),
    });
    const { performance, verdicts } = await test.run();
    expect(verdicts.longhaul.isValid).toBe(true);
    expect(performance?.summary.tokens?.tokenCount).toBe(700);
    expect(performance?.summary.tokens?.firstToken).toBeNull();
  });

  it.each([SERVER, { ...SERVER, scenario: 'Offline', minDurationMs: 0 } as const])(
    'takes one first token where their gaps are kept',
    async (settings) => {
      const test = simulatedTest(settings, {
        answer: (sink, id, atNs) => {
          sink.firstToken(id, NOTHING, atNs);
          if (id === 50) sink.firstToken(id, NOTHING, atNs);
          sink.complete(id, NOTHING, 7, atNs);
        },
      });
      const { performance, logFiles } = await test.run({ timesTokens: true });
      expect(errorTexts(logFiles.detail)).toEqual([expect.stringContaining('twice')]);
      const { counts, summary } = performance ?? {};
      expect(summary?.tokens?.gaps?.histogram.count).toBe(6 * Number(counts?.completedSamples));
    },
  );

  it('goes on while tokens come, for ten stall timeouts behind the last completion', async () => {
    /** Sample 3 has so many tokens, one every 10 s. */
    const run = async (count: number) => {
      const test = simulatedTest(
        { ...SERVER, scenario: 'SingleStream', minDurationMs: 0, minQueryCount: 5 },
        {
          serviceNs: () => 1e6,
          answer: (sink, id, atNs) => {
            sink.firstToken(id, NOTHING, atNs);
            if (id !== 3) sink.complete(id, NOTHING, 2, atNs);
            for (let i = 1; id === 3 && i <= count; i += 1) {
              const tokenNs = atNs + i * 10e9;
              test.clock.callAt(tokenNs, () => {
                if (i < count) sink.tokens(id, 1, tokenNs);
                else sink.complete(id, NOTHING, count + 1, tokenNs);
              });
            }
          },
        },
      );
      const { performance } = await test.run({ stallTimeoutNs: 15e9, timesTokens: true });
      return performance;
    };
    expect(await run(12)).toMatchObject({ endCause: 'natural', counts: { lostSamples: 0 } });
    const endless = await run(1_000);
    expect(endless).toMatchObject({ endCause: 'stall', counts: { lostSamples: 1 } });
    expect(endless?.durationNs).toBeGreaterThan(150e9);
    expect(endless?.durationNs).toBeLessThan(170e9);
  });

  it.each<[string, Partial<TestSettings>]>([
    ['TTFT', { serverTtftLatencyNs: 1 }],
    ['TPOT', { serverTpotLatencyNs: 1 }],
    // One in 50 is above that on TPOT: it asks for more queries as well, but for fewer.
    ['TTFT', { serverTtftLatencyNs: 1, serverTpotLatencyNs: 600_000 }],
  ])(
    'names the bound on %s, which asks for the most queries by early stopping',
    async (name, bound) => {
      const test = simulatedTest(
        { ...SERVER, ...bound },
        {
          serviceNs: () => 3_000_000,
          answer: (sink, id, atNs) => {
            sink.firstToken(id, NOTHING, atNs - 2_000_000);
            sink.complete(id, NOTHING, id % 50 === 0 ? 3 : 5, atNs);
          },
        },
      );
      const { performance } = await test.run();
      expect(performance?.summary.validity.earlyStopping.needed).toMatch(
        new RegExp(`^\\d+ queries with \\d+ samples above the ${name} bound$`),
      );
    },
  );

  it('tells whoever looks on that there is no bound on the latency', async () => {
    const bounds: number[] = [];
    const onProgress = ({ goal }: RunProgress) => bounds.push(goal.latencyBoundNs);
    await tokenTest(SERVER, (sink, id, atNs) => {
      sink.firstToken(id, NOTHING, atNs);
      sink.complete(id, NOTHING, 5, atNs);
    }).run({ observer: { onProgress } });
    expect(new Set(bounds)).toEqual(new Set([0]));
  });

  it('takes the time of the first token by the latency of its query', async () => {
    const test = simulatedTest(SERVER, {
      serviceNs: () => 3_000_000,
      answer: (sink, id, atNs) => {
        sink.firstToken(id, NOTHING, atNs - 2_000_000);
        sink.complete(id, NOTHING, 5, atNs);
      },
    });
    const { performance } = await test.run();
    const { tokens } = performance?.summary ?? {};
    expect(tokens?.firstToken?.maxNs).toBe(1_000_000);
    expect(tokens?.perOutputToken?.maxNs).toBe(500_000);
  });
});
