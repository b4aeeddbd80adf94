/**
 * Logs of LoadGen before v1.0. Goal: each record of later logs that they have is read under its
 * key, and what is wrong with a line is told with its number. Method: logs by hand, in the form of
 * rounds v0.5 and v0.7.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDetailLog } from '../../../../../../loadgen-node/loadgen/logs/read/detail-log.ts';
import { readSummaryLog } from '../../../../../../loadgen-node/loadgen/logs/read/summary-log.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

const line = (message: string): string => `"pid": 10, "tid": 11, "ts": 1200ns : ${message}\n`;

/** A detail log of these parts, and the summary beside it. @returns Path of the detail log. */
function write(parts: readonly (string | Buffer)[], summary?: string): string {
  const folder = tempFolder();
  const path = join(folder, 'mlperf_log_detail.txt');
  writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
  if (summary !== undefined) writeFileSync(join(folder, 'mlperf_log_summary.txt'), summary);
  return path;
}

const valuesOf = async (parts: readonly string[], summary?: string) =>
  Object.fromEntries(
    [...(await readDetailLog(write(parts, summary))).records].map(([key, { value }]) => [
      key,
      value,
    ]),
  );

it('reads head, settings and messages under the keys of later logs', async () => {
  const values = await valuesOf(
    [
      'LoadgenVersionInfo:',
      'version : .5a1 @ 1b1cabc04b',
      'git_commit_date  : 2019-10-10T17:21:50+03:00',
      'git_log :\n\n1b1cabc04b50 Merge : of a branch\n',
      'SHA1 of files :\n\n012aad77e5206c89d50718c46c119d1f3cb056b2 /loadgen.cc\n',
      'Date + time of test: 2019-10-30T19:54:35Z',
      'System Under Test (SUT) name: 1e3 : a SUT',
      'QSL total size: 50000',
      'QSL performance size*: 1024',
      '*Refer to Effective Settings for actual value',
      '',
      'Effective Settings:',
      'Scenario : Multi Stream',
      'Test mode : Find Peak Performance',
      'target_qps : 15.5',
      'target_latency (ns): 66666666',
      'min_duration (ms): 60000',
      'target_latency_percentile : 4.94066e-320',
      'qsl_rng_seed : 3133965575612453542',
      'accuracy_log_sampling_target : 4096',
      'print_timestamps : false',
      '',
      'Requested Settings:',
      'Scenario : Single Stream',
      'single_stream_expected_latency_ns : 1000000',
      '',
      'min_duration (ms): 7',
      'GeneratedQueries: "queries" : 11, "samples per query" : 2, "duration" : 33',
      'WARNING : PerfClock and system_clock differ',
      'POWER_BEGIN: "mode" : Performance, "time" : 10-30-2019 19:54:35.665',
    ].map(line),
  );
  expect(values).toEqual({
    generic_message: 'LoadgenVersionInfo:',
    loadgen_version: '.5a1 @ 1b1cabc04b',
    loadgen_git_commit_date: '2019-10-10T17:21:50+03:00',
    loadgen_file_sha1: { '/loadgen.cc': '012aad77e5206c89d50718c46c119d1f3cb056b2' },
    test_datetime: '2019-10-30T19:54:35Z',
    sut_name: '1e3 : a SUT',
    qsl_reported_total_count: 50000,
    qsl_reported_performance_count: 1024,
    effective_scenario: 'MultiStream',
    effective_test_mode: 'FindPeakPerformance',
    effective_target_qps: 15.5,
    effective_target_latency_ns: 66666666,
    effective_min_duration_ms: 60000,
    effective_target_latency_percentile: 4.94066e-320,
    effective_qsl_rng_seed: 3133965575612453542n,
    effective_accuracy_log_sampling_target: 4096,
    effective_print_timestamps: false,
    requested_scenario: 'SingleStream',
    requested_single_stream_expected_latency_ns: 1000000,
    generated_query_count: 11,
    generated_samples_per_query: 2,
    generated_query_duration: 33,
    warning_generic_message: 'PerfClock and system_clock differ',
    power_begin: '10-30-2019 19:54:35.665',
  });
});

it('takes the results from the summary, with its lines', async () => {
  const summary = `Result is : INVALID
  Performance constraints satisfied : NO
  Min duration satisfied : Yes

Intervals between each IssueQuery:  "qps" : 20, "ms" : 50
99.00 percentile : 2

Per-query latency:  "target_ns" : 50000000, "target_ms" : 50
99.00 percentile latency (ns)   : 222

Per-sample latency:
Max latency (ns)                : 444
99.00 percentile latency (ns)   : 333
Scheduled samples per second : 12.5
`;
  const { records } = await readDetailLog(write([line('version : .5a1 @ abc')], summary));
  const results = [...records].filter(([key]) => key.startsWith('result_'));
  expect(results.map(([key, { value, line: at }]) => [key, value, at])).toEqual([
    ['result_validity', 'INVALID', 1],
    ['result_perf_constraints_met', false, 2],
    ['result_min_duration_met', true, 3],
    ['result_99.00_percentile_num_intervals_between_queries', 2, 6],
    ['result_99.00_percentile_per_query_latency_ns', 222, 9],
    ['result_max_latency_ns', 444, 12],
    ['result_99.00_percentile_latency_ns', 333, 13],
    ['result_scheduled_samples_per_sec', 12.5, 14],
  ]);
  expect(results.every(([, { isOfSummary }]) => isOfSummary === true)).toBe(true);
});

it('takes the scenario of a summary in the words of later ones', async () => {
  const path = write(
    [],
    'Scenario : Single Stream\nMode     : Accuracy\nSUT name : Single Stream\n',
  );
  const { values } = await readSummaryLog(path.replace('detail', 'summary'));
  expect([...values.values()]).toEqual(['SingleStream', 'AccuracyOnly', 'Single Stream']);
});

it('does not take such lines for records of a later log', async () => {
  const record = ':::MLLOG {"key": "a", "value": 1, "metadata": {"is_error": false}}\n';
  const log = await readDetailLog(write([record, line('version : 7')], 'Result is : VALID\n'));
  expect([[...log.records.keys()], log.isOldForm]).toEqual([['a'], false]);
});

it('counts errors, and settings with two values', async () => {
  const log = await readDetailLog(
    write(
      [
        'Effective Settings:',
        'qsl_rng_seed : 1',
        'qsl_rng_seed : 2',
        'ERROR : Ending early: x',
      ].map(line),
    ),
  );
  expect(log.errors).toEqual([{ key: 'error_runtime', value: 'Ending early: x', line: 4 }]);
  expect(log.repeats).toEqual([{ key: 'effective_qsl_rng_seed', value: 2, line: 3 }]);
});

describe('tells', () => {
  const first = line('Effective Settings:');
  it.each<[string, (string | Buffer)[], string]>([
    ['a cut in a line', [line('target_qps : 100').slice(0, -3)], 'the file ends inside a record'],
    ['a cut in the head of a line', ['"pid": 10, "ti'], 'the file ends inside a record'],
    [
      'a head that is none',
      ['"pid": ten, "tid": 11 : target_qps : 100\n'],
      'what follows the mark is no record: "\\"pid\\": ten, \\"tid\\": 11 : target_qps : 100"',
    ],
    [
      'bytes that are no text',
      [line('target_qps : ').trimEnd(), Buffer.from([0xff, 0x00, 0x81]), '\n'],
      'the record is not UTF-8: the official tools cannot read the log',
    ],
    [
      'a number that is too large',
      [line('target_qps : 1e999')],
      'the value of "effective_target_qps" is too large for a number',
    ],
  ])('%s', async (_what, parts, text) => {
    const log = await readDetailLog(write([first, ...parts]));
    expect(log.damages).toEqual([{ line: 2, text }]);
    expect(log.records.has('effective_target_qps')).toBe(false);
  });

  it('labels that objects have by nature as messages', async () => {
    const values = await valuesOf(['constructor : 1', '__proto__ : 2'].map(line));
    expect(values).toEqual({ generic_message: 'constructor : 1' });
  });
});
