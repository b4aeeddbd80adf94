import {
  ACCURACY,
  logged,
  type Mutation,
  OFFLINE_LOG,
  RESULTS,
  SERVER_LOG,
  SERVER_RUN,
} from './mutation.ts';

const ACCURACY_DETAIL = `${ACCURACY}/mlperf_log_detail.txt`;
const SUMMARY = `${SERVER_RUN}/mlperf_log_summary.txt`;

const ERROR_RECORD =
  ':::MLLOG {"key": "error_runtime", "value": "a query was lost", "metadata": {"is_error": true}}\n';

const OTHER_VERDICT =
  ':::MLLOG {"key": "result_validity", "value": "INVALID", "metadata": {"is_error": false}}\n';

/** Faults of detail and summary logs. */
export const LOG_MUTATIONS: readonly Mutation[] = [
  logged('a wrong seed', [SERVER_LOG, 'effective_qsl_rng_seed', '1'], 'seed-wrong'),
  logged(
    'a seed of another round',
    [SERVER_LOG, 'effective_schedule_rng_seed', '9933818062894767841'],
    'seed-wrong',
  ),
  logged(
    'a rounded seed',
    [SERVER_LOG, 'effective_schedule_rng_seed', '14962580496156340000'],
    'seed-rounded',
  ),
  logged(
    'a seed in quotes',
    [SERVER_LOG, 'effective_qsl_rng_seed', '"3066443479025735752"'],
    'record-not-number',
  ),
  logged(
    'no seed of the schedule',
    [SERVER_LOG, 'effective_schedule_rng_seed', null],
    'record-missing',
  ),
  logged(
    'a wrong seed in the accuracy run',
    [ACCURACY_DETAIL, 'effective_sample_index_rng_seed', '2'],
    'accuracy-seed-wrong',
  ),
  logged(
    'a log without the record of our own verdict',
    [SERVER_LOG, 'longhaul_validity', null],
    'own-records-removed',
  ),
  logged(
    'a rate beyond all numbers',
    [OFFLINE_LOG, 'result_samples_per_second', '1e400'],
    'log-damaged',
    ['metric-missing'],
  ),
  logged(
    'a latency below zero',
    [SERVER_LOG, 'result_99.00_percentile_latency_ns', '-5'],
    'latency-impossible',
  ),
  logged(
    'an accuracy run of another year',
    [ACCURACY_DETAIL, 'test_datetime', '"2001-07-01T00:00:00Z"'],
    'runs-far-apart',
  ),
  logged('INVALID', [SERVER_LOG, 'result_validity', '"INVALID"'], 'result-invalid', [
    'summary-differs',
  ]),
  logged(
    'VALID with a constraint that was not met',
    [SERVER_LOG, 'result_min_duration_met', 'false'],
    'constraint-not-met',
  ),
  logged('another scenario', [OFFLINE_LOG, 'effective_scenario', '"Server"'], 'scenario-differs', [
    'summary-differs',
    'audit-of-another-run',
  ]),
  logged(
    'an accuracy run in performance/',
    [SERVER_LOG, 'effective_test_mode', '"AccuracyOnly"'],
    'mode-differs',
    ['audit-of-another-run'],
  ),
  logged(
    'a performance run in accuracy/',
    [ACCURACY_DETAIL, 'effective_test_mode', '"PerformanceOnly"'],
    'mode-differs',
    ['audit-of-another-run'],
  ),
  logged(
    'the same sample all the time, in a result',
    [SERVER_LOG, 'effective_performance_issue_same', 'true'],
    'audit-in-result',
  ),
  logged('a name without "Network SUT"', [SERVER_LOG, 'sut_name', '"sut-a"'], 'sut-name', [
    'summary-differs',
    'audit-of-another-run',
  ]),
  logged('a name in lower case', [SERVER_LOG, 'sut_name', '"network sut: sut-a"'], 'sut-name', [
    'summary-differs',
    'audit-of-another-run',
  ]),
  logged(
    'too few samples to draw from',
    [SERVER_LOG, 'effective_performance_sample_count', '1023'],
    'performance-samples-few',
  ),
  logged(
    'a shortest duration of 599,999 ms',
    [SERVER_LOG, 'effective_min_duration_ms', '599999'],
    'duration-short',
  ),
  logged('no queries asked for', [OFFLINE_LOG, 'effective_min_query_count', '0'], 'queries-few'),
  logged(
    'an Offline query that is one sample short',
    [OFFLINE_LOG, 'effective_samples_per_query', '24575'],
    'offline-samples-few',
  ),
  logged(
    'a bound of 15 ms and 1 ns',
    [SERVER_LOG, 'effective_target_latency_ns', '15000001'],
    'latency-bound-loose',
  ),
  logged(
    'a bound for 90 % of the queries',
    [SERVER_LOG, 'effective_target_latency_percentile', '0.9'],
    'percentile-low',
  ),
  logged(
    'early stopping not met',
    [SERVER_LOG, 'early_stopping_met', 'false'],
    'early-stopping-not-met',
  ),
  logged(
    'a p99 above the bound',
    [SERVER_LOG, 'result_99.00_percentile_latency_ns', '15000001'],
    'p99-above-bound',
  ),
  logged('no rate', [OFFLINE_LOG, 'result_samples_per_second', null], 'metric-missing'),
  logged(
    'Name() in no time',
    [SERVER_LOG, 'get_sut_name_duration_ns', '400'],
    'name-without-round-trip',
  ),
  {
    what: 'a record of an error',
    change: (tree) => tree.edit(SERVER_LOG, (text) => text + ERROR_RECORD),
    finding: 'error-in-log',
    file: SERVER_LOG,
  },
  {
    what: 'a record of an error that is marked with a text',
    change: (tree) =>
      tree.edit(SERVER_LOG, (text) => text + ERROR_RECORD.replace('true', '"true"')),
    finding: 'error-in-log',
    file: SERVER_LOG,
  },
  {
    what: 'INVALID behind VALID',
    change: (tree) => tree.edit(SERVER_LOG, (text) => text + OTHER_VERDICT),
    finding: 'record-twice',
    file: SERVER_LOG,
  },
  {
    what: 'a summary that counts errors',
    change: (tree) => tree.edit(SUMMARY, (text) => `${text}\n3 ERRORS encountered. See log.\n`),
    finding: 'errors-in-summary',
    file: SUMMARY,
  },
  {
    what: 'a byte order mark in front of the first record',
    change: (tree) => tree.edit(SERVER_LOG, (text) => `\ufeff${text}`),
    finding: 'log-first-line',
    file: SERVER_LOG,
  },
  {
    what: 'a log that is cut in a record behind the last one that counts',
    change: (tree) => tree.edit(SERVER_LOG, (text) => text.slice(0, -20)),
    finding: 'log-cut',
    file: SERVER_LOG,
  },
  {
    what: 'a record with broken JSON',
    change: (tree) => tree.edit(SERVER_LOG, (text) => `${text}:::MLLOG {"key": }\n`),
    finding: 'log-damaged',
    file: SERVER_LOG,
  },
  {
    what: 'a line in front of the first record',
    change: (tree) => tree.edit(SERVER_LOG, (text) => `copied by hand\n${text}`),
    finding: 'log-first-line',
    file: SERVER_LOG,
  },
  {
    what: 'a log without records',
    change: (tree) => tree.write(`${RESULTS}/Server/accuracy/mlperf_log_detail.txt`, 'nothing\n'),
    finding: 'log-empty',
    file: ACCURACY_DETAIL,
  },
  {
    what: 'a summary without a verdict',
    change: (tree) => tree.edit(SUMMARY, (text) => text.replace(/^Result is.*\n/m, '')),
    finding: 'summary-unusable',
    file: SUMMARY,
  },
  {
    what: 'a summary with another rate',
    change: (tree) =>
      tree.edit(SUMMARY, (text) => text.replace(/^(Completed samples per second\s*: ).*/m, '$131')),
    finding: 'summary-differs',
    file: SUMMARY,
  },
];
