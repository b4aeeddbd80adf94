import { describe, expect, it } from 'vitest';
import { LOADGEN_V61 } from '../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import type { TestSettings } from '../../loadgen-node/loadgen/settings/test-settings.ts';
import { goldenNames, readGolden, settingsOfArgs } from '../scenes/simulated-run/golden.ts';
import { MemoryQsl } from '../scenes/simulated-run/memory-qsl.ts';
import { errorTexts } from '../scenes/simulated-run/run-logs.ts';
import { type SimulatedTest, simulatedTest } from '../scenes/simulated-run/simulated-run.ts';
import type { SeenQuery } from '../scenes/simulated-run/simulated-sut.ts';

const FOLDER = 'loadgen-v6.1/issues';

/** Thread, first query, when it was due, how late it went out, and the samples as `id:index`. */
type Issue = readonly [number, number, number, number, readonly string[]];

interface GoldenIssues {
  readonly args: Readonly<Record<string, string>>;
  readonly qsl_calls: readonly (readonly [string, number, readonly number[]])[];
  readonly flush_calls: number;
  readonly samples_issued: number;
  readonly issues: readonly Issue[];
}

function settingsOf(golden: GoldenIssues): TestSettings {
  const common = { scenario: 'Server', min_query_count: '100' };
  return {
    ...settingsOfArgs({ ...common, ...golden.args }),
    qslRngSeed: 2085463073848966840n,
    sampleIndexRngSeed: 2747215439041700203n,
    scheduleRngSeed: 16159082839903944936n,
  };
}

/** A SUT whose issue calls end when the golden run's next call began. */
function replayOf(golden: GoldenIssues): SimulatedTest {
  const isThreaded = golden.args['server_num_issue_query_threads'] !== undefined;
  let call = 0;
  const test: SimulatedTest = simulatedTest(
    settingsOf(golden),
    {
      serviceNs: () => Number(golden.args['delay_ns'] ?? 1000),
      afterIssue: () => {
        call += 1;
        const next = golden.issues[call];
        // Threads of the golden run ran side by side: there only the order is compared.
        if (next === undefined || isThreaded) return;
        const startNs = (test.sut.queries[0]?.issuedAtNs ?? 0) - (golden.issues[0]?.[3] ?? 0);
        const waitNs = startNs + next[2] + next[3] - test.clock.nowNs();
        if (waitNs > 0) test.clock.spend(waitNs);
      },
    },
    new MemoryQsl(1000),
  );
  return test;
}

function seen({ id, firstResponseId, responseIdStride, sampleIndices }: SeenQuery) {
  const samples = sampleIndices.map(
    (index, i) => `${firstResponseId + i * responseIdStride}:${index}`,
  );
  return [id % responseIdStride, id, samples];
}

// Goal: which queries go out together, from which thread, and when issuing ends, as in LoadGen.
// Method: the golden run's issue calls are repeated at its own instants, under simulated time.
describe.each(goldenNames(FOLDER))('issue calls of %s', (name) => {
  it('equal LoadGen', async () => {
    const golden = readGolden<GoldenIssues>(`${FOLDER}/${name}.json`);
    const test = replayOf(golden);
    const outcome = await test.run({ loadgen: LOADGEN_V61 });
    expect(test.sut.complaints).toEqual([]);
    expect(test.sut.queries.map(seen)).toEqual(
      golden.issues
        .toSorted((a, b) => a[1] - b[1])
        .map(([thread, id, , , samples]) => [thread, id, samples]),
    );
    expect(outcome.performance?.counts.issuedSamples).toBe(golden.samples_issued);
    expect(test.sut.flushCount).toBe(golden.flush_calls);
    expect([...(test.qsl.loads[0] ?? [])].slice(0, 16)).toEqual(golden.qsl_calls[0]?.[2]);
    const early = errorTexts(outcome.logFiles.detail).filter((text) => /Ending early/.test(text));
    const threads = Number(golden.args['server_num_issue_query_threads'] ?? 1);
    expect(early).toHaveLength(/^max|maxq/.test(name) ? threads : 0);
  });
});

// Goal: several threads that coalesce take only their own queries along.
// Method: a SUT that blocks in every call; all ids must still come once each.
it('coalesces the queries of each issue thread by themselves', async () => {
  const test: SimulatedTest = simulatedTest(
    {
      scenario: 'Server',
      serverTargetQps: 2000,
      minDurationMs: 1000,
      serverCoalesceQueries: true,
      serverNumIssueQueryThreads: 3,
    },
    { serviceNs: () => 1000, afterIssue: () => test.clock.spend(4_000_000) },
  );
  const { performance } = await test.run();
  expect(test.sut.complaints).toEqual([]);
  expect(test.sut.queries.some(({ sampleIndices }) => sampleIndices.length > 1)).toBe(true);
  const ids = test.sut.queries.flatMap(({ firstResponseId, sampleIndices }) =>
    sampleIndices.map((_, i) => firstResponseId + 3 * i),
  );
  expect(new Set(ids).size).toBe(performance?.counts.issuedSamples);
  expect(performance?.counts.lostSamples).toBe(0);
});
