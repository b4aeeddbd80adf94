import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type {
  DrivenSet,
  DriverEnd,
  IssueDriver,
} from '../../../../loadgen-node/loadgen/engine/issue/issue-driver.ts';
import type { TestSettings } from '../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { adviceOn } from '../../../../loadgen-node/present/text/advice.ts';
import { simulatedTest } from '../../../scenes/simulated-run/simulated-run.ts';

const SERVER: Partial<TestSettings> = {
  scenario: 'Server',
  mode: 'PerformanceOnly',
  serverTargetQps: 100,
  serverTargetLatencyNs: 100_000_000,
  minDurationMs: 6000,
};

const AGREES: DriverEnd = {
  ...{ isValid: true, errors: [], otherSamples: 0, differences: [] },
  otherSettings: null,
};

/**
 * A LoadGen that issues the plan of the engine, each query `latenessNs` after it is due, and judges
 * as it is told to.
 */
function scriptedDriver(
  test: ReturnType<typeof simulatedTest>,
  {
    end = AGREES,
    latenessNs = () => 0,
    queries = Number.POSITIVE_INFINITY,
    everyNs,
  }: {
    readonly end?: DriverEnd;
    readonly latenessNs?: (query: number) => number;
    /** It stops after so many. */
    readonly queries?: number;
    /** Between queries; default: as planned. */
    readonly everyNs?: number;
  } = {},
) {
  const completed: number[] = [];
  const driver: IssueDriver = {
    begin: () => {},
    nextSet: async () => Array.from({ length: 100 }, (_, i) => i),
    drive(set: DrivenSet) {
      const startNs = set.nowNs();
      const { scheduledDeltaNs } = set.plan;
      const queryCount = Math.min(set.plan.queryCount, queries);
      for (let query = 0; query < queryCount; query += 1) {
        const dueNs = everyNs === undefined ? scheduledDeltaNs[query] : query * everyNs;
        const atNs = startNs + (dueNs as number) + latenessNs(query);
        test.clock.callAt(atNs, () => {
          set.issue(query, 1, atNs);
          if (query === queryCount - 1) set.endIssuing();
        });
      }
    },
    complete: (sample) => void completed.push(sample),
    firstToken: () => {},
    handOn: () => {},
    ended: () => Promise.resolve(end),
  };
  return { driver, completed };
}

/** The set that LoadGen loads: all samples, in the order of the engine's own plan. */
async function plannedSet(): Promise<Uint32Array> {
  const test = simulatedTest(SERVER);
  await test.run();
  return test.qsl.loads[0] as Uint32Array;
}

// Goal: the engine follows another LoadGen: it records what that one issues by its own clock, hands
// every response on, takes its verdict, and ends by itself where the other one would wait for ever.
// Method: a scripted LoadGen in simulated time.
describe('an engine that follows another LoadGen', () => {
  async function followed(
    options: Parameters<typeof scriptedDriver>[1] = {},
    sut = {},
    settings: Partial<TestSettings> = {},
  ) {
    const set = await plannedSet();
    const test = simulatedTest({ ...SERVER, ...settings }, sut);
    const { driver, completed } = scriptedDriver(test, options);
    const outcome = await test.run({ driver: { ...driver, nextSet: async () => set } });
    return { outcome, completed, test };
  }

  it('records its queries, and hands it each response once', async () => {
    const { outcome, completed, test } = await followed();
    const { counts, endCause } = outcome.performance ?? {};
    expect(endCause).toBe('all-issued');
    expect(counts?.issuedQueries).toBeGreaterThan(500);
    expect(counts?.completedSamples).toBe(counts?.issuedSamples);
    expect([...completed].sort((a, b) => a - b)).toEqual(completed.map((_, i) => i));
    expect(outcome.verdicts.loadgen.isValid).toBe(true);
    expect(test.sut.complaints).toEqual([]);
  });

  it('takes the start from the queries, also where the first one was late', async () => {
    const late = await followed({ latenessNs: (query) => (query === 0 ? 30e6 : 0) });
    const prompt = await followed();
    const meanOf = ({ outcome }: typeof late) => outcome.performance?.summary.sampleLatency.meanNs;
    const count = late.outcome.performance?.counts.issuedSamples ?? 0;
    // One query of all waited for 30 ms.
    expect((meanOf(late) ?? 0) - (meanOf(prompt) ?? 0)).toBeCloseTo(30e6 / count, -4);
    const max = late.outcome.performance?.dispatchLag.maxNs;
    expect(max).toBeGreaterThan(29e6);
  });

  it('is INVALID where the other one says so, or says nothing', async () => {
    const other = await followed({ end: { ...AGREES, isValid: false } });
    expect(other.outcome.verdicts.loadgen.reasons.map(({ rule }) => rule)).toEqual(['cpp-loadgen']);
    const silent = await followed({ end: { ...AGREES, isValid: undefined } });
    expect(silent.outcome.verdicts.loadgen.reasons[0]?.seen).toBe('no result_validity');
  });

  it('does not wait for its end after a lost sample', async () => {
    const { outcome } = await followed(
      { end: new Promise<never>(() => {}) as unknown as DriverEnd },
      {
        answer: (
          sink: import('../../../../shared/domain/system-under-test.ts').ResponseSink,
          id: number,
          atNs: number,
        ) =>
          id === 50
            ? sink.fail(id, { code: 'limit', text: 'queue is full' })
            : sink.complete(id, new Uint8Array(), 0, atNs),
      },
    );
    expect(outcome.driver).toBeNull();
    expect(outcome.performance?.counts.lostSamples).toBe(1);
    expect(outcome.verdicts.loadgen.reasons.map(({ rule }) => rule)).toContain('lost-samples');
  });

  it('refuses another set of samples, before a query', async () => {
    const loading = async (wanted: ArrayLike<number>) => {
      const test = simulatedTest(SERVER);
      const { driver } = scriptedDriver(test);
      await test.run({ driver: { ...driver, nextSet: async () => wanted } });
    };
    await expect(loading([3, 2, 1])).rejects.toThrow(
      'loads 3 samples, but the settings of the round require 100: link the LoadGen of the round',
    );
    const other = Uint32Array.from(await plannedSet());
    const [first = 0, second = 0] = other;
    other[0] = second;
    await expect(loading(other)).rejects.toThrow(
      `number 1 of 100 is ${second}, not ${first}. Give the --rng-library`,
    );
  });

  it.each([
    [
      { maxQueryCount: 40 },
      'max-query-count',
      'Ending early: Max query count reached. query_count 40',
    ],
    [{ maxQueryCount: 0 }, 'driver', 'The other LoadGen stopped after 40 queries of thread 0'],
  ])('with %o logs why issuing ended', async (settings, endCause, text) => {
    const { outcome } = await followed({ queries: 40 }, {}, settings);
    expect(outcome.performance?.endCause).toBe(endCause);
    expect(outcome.performance?.counts.issuedQueries).toBe(40);
    expect(readFileSync(outcome.logFiles.detail, 'utf8')).toContain(text);
  });

  // Where mlperf.conf was changed in the library, say.
  it.each(['Server', 'SingleStream'] as const)(
    'in %s advises no setting of length or rate where the other one stopped by itself',
    async (scenario) => {
      const settings = { scenario, maxDurationMs: 60_000, singleStreamExpectedLatencyNs: 10e6 };
      const { outcome } = await followed(
        { queries: 40, everyNs: 10e6, end: { ...AGREES, isValid: false } },
        {},
        settings,
      );
      expect(outcome.performance?.endCause).toBe('driver');
      const { reasons } = outcome.verdicts.longhaul;
      const short = reasons.filter(({ rule }) => /^(?:min-|early-stopping)/.test(rule));
      expect(short.map(({ rule }) => rule)).toContain('min-duration');
      for (const reason of short) {
        expect(adviceOn(reason, outcome)).toBe(
          'The C++ LoadGen stopped before the requested settings were met: look at the settings in its log.',
        );
      }
    },
  );

  it('logs a natural end, also where its own clock is a little behind', async () => {
    const settings: Partial<TestSettings> = { scenario: 'SingleStream', minDurationMs: 1000 };
    const long = { ...settings, minQueryCount: 50, singleStreamExpectedLatencyNs: 10e6 };
    const { outcome } = await followed({ queries: 100, everyNs: 10e6 }, {}, long);
    expect(outcome.performance?.endCause).toBe('natural');
    expect(readFileSync(outcome.logFiles.detail, 'utf8')).toContain('Ending naturally');
  });
});
