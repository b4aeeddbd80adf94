import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runTest } from '../../loadgen-node/loadgen/engine/start-test.ts';
import type { TestOutcome } from '../../loadgen-node/loadgen/engine/test-outcome.ts';
import { readAccuracyLog } from '../../loadgen-node/loadgen/logs/read/accuracy-log-reader.ts';
import {
  LOADGEN_V41,
  LOADGEN_V61,
  type LoadgenBehaviour,
  loadgenOf,
} from '../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import type { Scenario } from '../../shared/domain/scenario.ts';
import { tempFolder } from '../scenes/host/folders.ts';
import { HarnessSut } from '../support/nodes/harness-sut.ts';
import {
  goldenFolders,
  readGolden,
  readGoldenText,
  settingsOfArgs,
} from '../support/runs/golden.ts';
import { MemoryQsl } from '../support/runs/memory-qsl.ts';
import { SimulatedClock } from '../support/runs/simulated-clock.ts';
import { type DetailLine, simulatedTest } from '../support/runs/simulated-test.ts';

/** On that machine 500 us of blocking took this long: the search for the peak lives on it. */
const BLOCKED_NS = '577500';

/** Arguments of the golden run, out of its command line. */
function argsOf(folder: string): Record<string, string> {
  const words = readGoldenText(`${folder}/cmd.txt`).split(/\s+/);
  const args = Object.fromEntries(
    words.filter((word) => word.includes('=')).map((word) => word.split('=') as [string, string]),
  );
  return folder.endsWith('/findpeak_server') ? { ...args, delay_ns: BLOCKED_NS } : args;
}

async function runLike(
  folder: string,
  loadgen: LoadgenBehaviour,
  enableTrace = false,
): Promise<TestOutcome & { readonly printed: string }> {
  const args = argsOf(folder);
  const clock = new SimulatedClock();
  const name = /sut_name=(Network SUT .*?) single_/.exec(readGoldenText(`${folder}/cmd.txt`))?.[1];
  let printed = '';
  const outcome = await clock.drive(
    runTest({
      sut: new HarnessSut(clock, args, name ?? 'Network_SUT_harness'),
      qsl: new MemoryQsl(Number(args['qsl_total']), Number(args['qsl_perf'])),
      clock,
      settings: settingsOfArgs(args),
      loadgen,
      log: {
        outdir: tempFolder(),
        prefix: args['prefix'] ?? 'mlperf_log_',
        suffix: args['suffix'] ?? '',
        prefixWithDatetime: args['prefix_with_datetime'] === '1',
        copySummaryToStdout: args['stdout'] === '1',
        copyDetailToStdout: args['detail_stdout'] === '1',
        enableTrace,
        print: (text) => {
          printed += text;
        },
      },
      stallTimeoutNs: 30e9,
      drainTimeoutNs: 2e9,
    }),
  );
  return { ...outcome, printed };
}

type Line = readonly [key: string, value: unknown];

/** Keys of the build, which are ours, and those of longhaul, which LoadGen does not have. */
const OWN_KEYS = /^(loadgen_(build|git|file)|longhaul_)/;
/** Values that depend on the machine and the moment. */
const MOMENTARY_KEYS =
  /^(loadgen_version|test_datetime|sut_name|get_sut_name_duration_ns|qsl_name|power_|early_stopping_(latency|result|t[tp]))|latency|_per_sec|qps_with|samples_per_second|token/;
/** Values that depend on how many queries a closed loop got through. */
const CLOSED_LOOP_KEYS = /^result_query_count$/;

function detailLines(text: string): Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      // 64-bit numbers as texts, as in the golden files: JSON.parse would round them.
      const exact = line.replace(/^:::MLLOG /, '').replace(/"value": (-?\d{16,})/, '"value": "$1"');
      const { key = 'sut_name', value } = JSON.parse(exact) as { key?: string; value: unknown };
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
    return [key, isFree ? 'free' : withoutMoment(value)];
  });
}

/** Texts without ids, which LoadGen does not name, thread hashes and times. */
function withoutMoment(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value
    .replace(/ id \d+$/, '')
    .replace(/(thread ID :|duration_ns) \d+/, '$1')
    .replace('Received a response for a sample that was not issued yet.', TWICE);
}

/** LoadGen takes a response for a later sample as that sample's, and finds the second one wrong. */
const TWICE = 'Attempted to complete a sample twice.';

/** Labels of the summary: what stands before the values. */
function labels(summary: string): string[] {
  return (
    summary
      .replace(/\nlonghaul's verdict[\s\S]*?\n\n/, '\n')
      .split('\n')
      .map((line) => line.replace(/ ?:.*$/, '').replaceAll(/\d+/g, 'N'))
      // How far a closed loop got decides this, and so the machine.
      .filter((line) => !/^ \* (Not enough|Early stopping)|^ early stopping est|^ least/.test(line))
  );
}

/** Names of the golden log files of a case begin and end as its command says. */
function goldenFile(folder: string, what: string, extension: string): string {
  const { prefix, suffix = '' } = argsOf(folder);
  const begin = prefix === undefined ? 'mlperf_log_' : `${prefix}2026-11-21T03:00:40Z_`;
  return readGoldenText(`${folder}/${begin}${what}${suffix}.${extension}`);
}

const FAMILIES: readonly (readonly [string, LoadgenBehaviour])[] = [
  ['loadgen-v4.1', LOADGEN_V41],
  ['loadgen-v6.1', LOADGEN_V61],
];

interface GoldenKeys {
  readonly runs: Readonly<Record<string, readonly (readonly string[])[]>>;
}

/** Key, kind of value and flag of each line, repeated lines once. */
function keysAndKinds(text: string): string[] {
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line.replace(/^:::MLLOG /, '')) as DetailLine)
    .filter(({ key }) => !key.startsWith('longhaul_'))
    .map(({ key, value, metadata }) => {
      const flag = metadata.is_error ? ' is_error' : metadata.is_warning ? ' is_warning' : '';
      return `${key} ${kindOf(value)}${flag}`;
    });
  return rows.filter((row, i) => row !== rows[i - 1]);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  // Under simulated time a SUT of no time at all has an infinite rate.
  if (value === null) return 'number';
  if (typeof value === 'object') return 'map';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

// Goal: the log files have LoadGen's keys, order, types, settings, counts, verdicts and texts.
// Method: the same test as the golden run's, under simulated time, with the harness's SUT;
// machine-dependent values are not compared.
describe.each(FAMILIES)('logs against %s', (family, loadgen) => {
  const { runs } = readGolden<GoldenKeys>(`${family}/detail-keys.json`);

  it.each(goldenFolders(`${family}/logs`))('equal those of %s', async (name) => {
    const folder = `${family}/logs/${name}`;
    const { logFiles } = await runLike(folder, loadgen);
    const isClosedLoop = argsOf(folder)['scenario']?.endsWith('Stream') ?? false;
    const detail = readFileSync(logFiles.detail, 'utf8');
    const expected = detailLines(goldenFile(folder, 'detail', 'jsonl'));
    expect(withoutMomentary(detailLines(detail), isClosedLoop)).toEqual(
      withoutMomentary(expected, isClosedLoop),
    );
    const summary = readFileSync(logFiles.summary, 'utf8');
    expect(labels(summary)).toEqual(labels(goldenFile(folder, 'summary', 'txt')));
    if (runs[name] !== undefined) {
      const rows = runs[name].map((row) => row.join(' '));
      expect(keysAndKinds(detail)).toEqual(rows.filter((row, i) => row !== rows[i - 1]));
    }
    const hasAccuracyLog = /_acc|submission|^[so][vf]_perf$/.test(name);
    if (hasAccuracyLog && name !== 'sv_acc_big_data') {
      expectEqualAccuracyLogs(
        name,
        readFileSync(logFiles.accuracy, 'utf8'),
        readGoldenText(`${folder}/mlperf_log_accuracy.json`),
      );
    }
  });
});

function expectEqualAccuracyLogs(name: string, ours: string, expected: string): void {
  const lines = (log: string): string[] => log.replaceAll(/,?\n/g, '\n').split('\n').slice(1, -2);
  if (name === 'sv_acc_tokens') {
    // Responses of a few us apart change places with the machine.
    expect(lines(ours).toSorted()).toEqual(lines(expected).toSorted());
    return;
  }
  if (!name.startsWith('ss_perf')) {
    expect(ours).toBe(expected);
    return;
  }
  // A closed loop ends where the machine was at that time.
  const count = Math.min(lines(ours).length, lines(expected).length);
  expect(count).toBeGreaterThan(5);
  expect(lines(ours).slice(0, count)).toEqual(lines(expected).slice(0, count));
}

// Goal: settings of the log files do what LoadGen's do. Method: the golden runs that set them.
describe('log settings', () => {
  const run = (name: string) => runLike(`loadgen-v6.1/logs/${name}`, LOADGEN_V61);

  it('put prefix, date and suffix into the names', async () => {
    const { logFiles } = await run('cfg_prefix_suffix');
    const date = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/;
    const names = Object.values(logFiles).map((path) =>
      path.replace(/.*\//, '').replace(date, 'D'),
    );
    expect(names).toEqual([
      'pre_D_summary_suf.txt',
      'pre_D_detail_suf.txt',
      'pre_D_accuracy_suf.json',
      'pre_D_trace_suf.json',
    ]);
  });

  it('copy summary and detail to stdout', async () => {
    const { logFiles, printed } = await run('cfg_stdout_copies');
    const words = (text: string): string[] => text.split('\n').filter(Boolean).toSorted();
    const files = [logFiles.summary, logFiles.detail].map((path) => readFileSync(path, 'utf8'));
    expect(words(printed)).toEqual(words(files.join('')));
  });

  it('print five lines around the performance run', async () => {
    const { printed } = await run('cfg_print_timestamps');
    expect(printed.trimEnd().split('\n')).toHaveLength(5);
    expect(printed).toContain('PerfClock Perf duration = 50ms');
  });

  it.each([
    'sv_perf_tokens_valid',
    'ss_perf_tokens',
    'ms_perf_valid',
    'of_acc',
    'sv_perf_threads2',
  ])('write a trace of %s that is JSON and holds every sample', async (name) => {
    const folder = `loadgen-v6.1/logs/${name}`;
    const { logFiles, performance, accuracy } = await runLike(folder, LOADGEN_V61, true);
    const { traceEvents, otherData } = JSON.parse(readFileSync(logFiles.trace, 'utf8')) as {
      traceEvents: { name: string; ph: string; ts: number; dur?: number }[];
      otherData: { version: string };
    };
    const counted = (event: string, ph: string): number =>
      traceEvents.filter((one) => one.name === event && one.ph === ph).length;
    const { counts } = performance ?? accuracy ?? {};
    expect(counted('Sample', 'b')).toBe(counts?.completedSamples);
    expect(counted('Sample', 'e')).toBe(counts?.completedSamples);
    expect(counted('IssueQuery', 'X')).toBe(counts?.issuedQueries);
    expect(counted('Token', 'b')).toBe(name.startsWith('ss') ? counts?.completedSamples : 0);
    expect(counted('Latency', 'C')).toBe(name.startsWith('sv') ? counts?.completedSamples : 0);
    expect(traceEvents.at(-1)).toEqual({ name: 'LastTrace' });
    expect(otherData.version).toBe('MLPerf LoadGen v1.0');
  });

  it('leave an empty file where no trace is wanted', async () => {
    const { logFiles } = await run('cfg_trace_disabled');
    expect(readFileSync(logFiles.trace, 'utf8')).toBe('');
  });

  it('keep a name with quotes readable, unlike LoadGen', async () => {
    const { logFiles, sutName } = await run('cfg_sut_name_unescaped');
    expect(sutName).toContain('"quoted"');
    const lines = detailLines(readFileSync(logFiles.detail, 'utf8'));
    expect(lines).toContainEqual(['sut_name', sutName]);
  });
});

interface GoldenRun {
  readonly detail: Readonly<Record<string, unknown>>;
  readonly logged: readonly (readonly [number, number])[];
}

// Goal: a whole official run (600 s of Server, 50,000 samples) issues what LoadGen issued.
// Method: sampled responses of two real runs, one with the accuracy log of TEST01.
describe.each([
  ['server-perf', 'v4.1'],
  ['server-test01', 'v4.1'],
  ['offline-test01', 'v5.0'],
] as const)('the real run %s of %s', (name, round) => {
  it('is repeated sample by sample', async () => {
    const golden = readGolden<GoldenRun>(`loadgen-${round}/runs/${name}.json`);
    const number = (key: string): number => Number(golden.detail[key]);
    const qsl = new MemoryQsl(
      number('qsl_reported_total_count'),
      number('qsl_reported_performance_count'),
    );
    const test = simulatedTest(
      {
        scenario: String(golden.detail['effective_scenario']) as Scenario,
        ...seedsOf(golden),
        serverTargetQps: number('effective_target_qps'),
        offlineExpectedQps: number('effective_target_qps'),
        serverTargetLatencyNs: number('effective_target_latency_ns'),
        minDurationMs: number('effective_min_duration_ms'),
        minQueryCount: number('effective_min_sample_count'),
        accuracyLogRngSeed: BigInt(String(golden.detail['effective_accuracy_log_rng_seed'])),
        accuracyLogSamplingTarget: number('effective_accuracy_log_sampling_target'),
      },
      { serviceNs: () => 1e6 },
      qsl,
    );
    const { logFiles, performance } = await test.run({ loadgen: loadgenOf(round) });
    expect([...(qsl.loads[0] ?? [])]).toEqual(golden.detail['loaded_qsl_set']);
    expect(performance?.counts.issuedQueries).toBe(number('result_query_count'));
    const logged: [number, number][] = [];
    for await (const entry of readAccuracyLog(logFiles.accuracy)) {
      logged.push([entry.seqId, entry.sampleIndex]);
    }
    expect(logged).toEqual(golden.logged.toSorted(([a], [b]) => a - b));
  });
});

function seedsOf({ detail }: GoldenRun) {
  const seed = (key: string): bigint => BigInt(String(detail[`effective_${key}_rng_seed`]));
  return {
    qslRngSeed: seed('qsl'),
    sampleIndexRngSeed: seed('sample_index'),
    scheduleRngSeed: seed('schedule'),
  };
}
