import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { TestOutcome } from '../../loadgen-node/engine/test-outcome.ts';
import { readAccuracyLog } from '../../loadgen-node/logs/accuracy-log-reader.ts';
import { readGolden, readGoldenText, settingsOfArgs } from '../support/golden.ts';
import { MemoryQsl } from '../support/memory-qsl.ts';
import { simulatedTest } from '../support/simulated-test.ts';

const FOLDER = 'loadgen-v4.1/logs';

/** Arguments of the golden run, out of its command line. */
function argsOf(name: string): Record<string, string> {
  const words = readGoldenText(`${FOLDER}/${name}/cmd.txt`).split(/\s+/);
  return Object.fromEntries(
    words.filter((word) => word.includes('=')).map((word) => word.split('=') as [string, string]),
  );
}

async function runLike(name: string): Promise<TestOutcome> {
  const args = argsOf(name);
  const slowEvery = Number(args['slow_every'] ?? Number.POSITIVE_INFINITY);
  // A SUT that blocks answers a whole query at once after its delay; under simulated time it may as
  // well answer from outside.
  const serviceNs = (sample: number): number =>
    Number(sample % slowEvery === slowEvery - 1 ? args['slow_ns'] : (args['delay_ns'] ?? 0));
  const qsl = new MemoryQsl(Number(args['qsl_total']), Number(args['qsl_perf']));
  return await simulatedTest(settingsOfArgs(args), { serviceNs }, qsl).run();
}

type Line = readonly [key: string, value: unknown];

/** Keys of the build, which are ours, and those of longhaul, which LoadGen does not have. */
const OWN_KEYS = /^(loadgen_(build|git|file)|longhaul_)/;
/** Values that depend on the machine and the moment. */
const MOMENTARY_KEYS =
  /^(loadgen_version|test_datetime|sut_name|get_sut_name_duration_ns|qsl_name|power_|early_stopping_(latency|result))|latency|_per_sec|qps_with|samples_per_second/;
/** Values that depend on how many queries a closed loop got through. */
const CLOSED_LOOP_KEYS = /^result_query_count$/;

function detailLines(text: string): Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      // 64-bit numbers as texts, as in the golden files: JSON.parse would round them.
      const exact = line.replace(/^:::MLLOG /, '').replace(/"value": (\d{16,})/, '"value": "$1"');
      const { key, value } = JSON.parse(exact) as { key: string; value: unknown };
      return [key, Array.isArray(value) && value.length > 40 ? cut(value) : value] as const;
    })
    .filter(([key]) => !OWN_KEYS.test(key));
}

/** As the golden files cut long lists. */
function cut(list: readonly unknown[]): unknown[] {
  return [...list.slice(0, 40), '...'];
}

function withoutMomentary(lines: readonly Line[], isClosedLoop: boolean): Line[] {
  return lines.map(([key, value]) => {
    const isFree =
      (MOMENTARY_KEYS.test(key) && !/^(requested|effective)_/.test(key)) ||
      (isClosedLoop && CLOSED_LOOP_KEYS.test(key));
    return [key, isFree ? typeof value : value];
  });
}

/** Labels of the summary: what stands before the values. */
function labels(summary: string): string[] {
  return summary.split('\n').map((line) => line.replace(/ ?:.*$/, '').replaceAll(/\d+/g, 'N'));
}

// Goal: the log files have LoadGen's keys, order, types, settings, counts, verdicts and texts.
// Method: the same test as the golden run's, under simulated time; machine-dependent values are
// compared by type only.
describe('logs against LoadGen v4.1', () => {
  it.each([
    'ss_perf',
    'ms_perf',
    'sv_perf',
    'of_perf',
    'sv_perf_latency_fail',
    'sv_acc',
    'of_acc_multiset',
    'of_perf_concat_pad',
    'of_perf_concat_multiple',
  ])('equal those of %s', async (name) => {
    const { logFiles } = await runLike(name);
    const isClosedLoop = /^[sm]s_/.test(name);
    const expected = detailLines(readGoldenText(`${FOLDER}/${name}/mlperf_log_detail.jsonl`));
    const ours = detailLines(readFileSync(logFiles.detail, 'utf8'));
    expect(withoutMomentary(ours, isClosedLoop)).toEqual(withoutMomentary(expected, isClosedLoop));
    const summary = readFileSync(logFiles.summary, 'utf8').replace(
      /\nlonghaul's verdict[\s\S]*?\n\n/,
      '\n',
    );
    expect(labels(summary)).toEqual(
      labels(readGoldenText(`${FOLDER}/${name}/mlperf_log_summary.txt`)),
    );
  });

  it.each(['sv_perf', 'sv_acc', 'of_acc_multiset', 'of_perf'])(
    'hold the accuracy log of %s byte for byte',
    async (name) => {
      const { logFiles } = await runLike(name);
      expect(readFileSync(logFiles.accuracy, 'utf8')).toBe(
        readGoldenText(`${FOLDER}/${name}/mlperf_log_accuracy.json`),
      );
    },
  );
});

interface GoldenRun {
  readonly detail: Readonly<Record<string, unknown>>;
  readonly logged: readonly (readonly [number, number])[];
}

// Goal: a whole official run (600 s of Server, 50,000 samples) issues what LoadGen issued.
// Method: sampled responses of two real runs, one with the accuracy log of TEST01.
describe.each(['server-perf', 'server-test01'])('the real run %s', (name) => {
  it('is repeated sample by sample', async () => {
    const golden = readGolden<GoldenRun>(`loadgen-v4.1/runs/${name}.json`);
    const number = (key: string): number => Number(golden.detail[key]);
    const qsl = new MemoryQsl(
      number('qsl_reported_total_count'),
      number('qsl_reported_performance_count'),
    );
    const test = simulatedTest(
      {
        scenario: 'Server',
        serverTargetQps: number('effective_target_qps'),
        serverTargetLatencyNs: number('effective_target_latency_ns'),
        minDurationMs: number('effective_min_duration_ms'),
        minQueryCount: number('effective_min_query_count'),
        accuracyLogRngSeed: BigInt(String(golden.detail['effective_accuracy_log_rng_seed'])),
        accuracyLogSamplingTarget: number('effective_accuracy_log_sampling_target'),
      },
      { serviceNs: () => 1e6 },
      qsl,
    );
    const { logFiles, performance } = await test.run();
    expect([...(qsl.loads[0] ?? [])]).toEqual(golden.detail['loaded_qsl_set']);
    expect(performance?.counts.issuedQueries).toBe(number('result_query_count'));
    const logged: [number, number][] = [];
    for await (const entry of readAccuracyLog(logFiles.accuracy)) {
      logged.push([entry.seqId, entry.sampleIndex]);
    }
    expect(logged).toEqual(golden.logged.toSorted(([a], [b]) => a - b));
  });
});
