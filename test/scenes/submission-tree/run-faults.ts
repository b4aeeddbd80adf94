import type { FindingId } from '../../../loadgen-node/submission/check/rules/findings.ts';
import {
  append,
  type Change,
  copy,
  prepend,
  record,
  remove,
  replace,
  rewrite,
  write,
} from './changes.ts';

/**
 * One fault of a tree from `buildScene`, what the check finds, and the findings that follow from
 * it.
 */
export type FaultRow = readonly [
  finding: FindingId,
  changes: Change | readonly Change[],
  more?: {
    /** File or folder of the finding, where it is not that of the first change. */
    readonly at?: string;
    readonly also?: readonly FindingId[];
  },
];

/** Folder of the submitter. */
export const ACME = 'network/ACME';
/** Folders of the model in each part of the tree. */
export const RESULTS = `${ACME}/results/acme-2n/resnet50`;
const COMPLIANCE = `${ACME}/compliance/acme-2n/resnet50/Server`;
/** Folders of the runs of a result. */
export const SERVER_RUN = `${RESULTS}/Server/performance/run_1`;
export const ACCURACY = `${RESULTS}/Server/accuracy`;

const SERVER_LOG = `${SERVER_RUN}/mlperf_log_detail.txt`;
const SUMMARY = `${SERVER_RUN}/mlperf_log_summary.txt`;
const ACCURACY_DETAIL = `${ACCURACY}/mlperf_log_detail.txt`;
const server = (key: string, value: string | null): Change => record(SERVER_LOG, key, value);
const accuracy = (key: string, value: string): Change => record(ACCURACY_DETAIL, key, value);
const offline = (key: string, value: string | null): Change =>
  record(`${RESULTS}/Offline/performance/run_1/mlperf_log_detail.txt`, key, value);

const ERROR_RECORD =
  ':::MLLOG {"key": "error_runtime", "value": "a query was lost", "metadata": {"is_error": true}}\n';
const OTHER_VERDICT =
  ':::MLLOG {"key": "result_validity", "value": "INVALID", "metadata": {"is_error": false}}\n';

/** Detail and summary logs. */
const LOGS: readonly FaultRow[] = [
  ['seed-wrong', server('effective_qsl_rng_seed', '1')],
  ['seed-wrong', server('effective_schedule_rng_seed', '9933818062894767841')],
  ['seed-rounded', server('effective_schedule_rng_seed', '14962580496156340000')],
  ['record-not-number', server('effective_qsl_rng_seed', '"3066443479025735752"')],
  ['record-missing', server('effective_schedule_rng_seed', null)],
  ['accuracy-seed-wrong', accuracy('effective_sample_index_rng_seed', '2')],
  ['own-records-removed', server('longhaul_validity', null)],
  ['log-damaged', offline('result_samples_per_second', '1e400'), { also: ['metric-missing'] }],
  ['latency-impossible', server('result_99.00_percentile_latency_ns', '-5')],
  ['runs-far-apart', accuracy('test_datetime', '"2001-07-01T00:00:00Z"')],
  ['result-invalid', server('result_validity', '"INVALID"'), { also: ['summary-differs'] }],
  ['constraint-not-met', server('result_min_duration_met', 'false')],
  [
    'scenario-differs',
    offline('effective_scenario', '"Server"'),
    { also: ['summary-differs', 'audit-of-another-run'] },
  ],
  [
    'mode-differs',
    server('effective_test_mode', '"AccuracyOnly"'),
    { also: ['audit-of-another-run'] },
  ],
  [
    'mode-differs',
    accuracy('effective_test_mode', '"PerformanceOnly"'),
    { also: ['audit-of-another-run'] },
  ],
  ['audit-in-result', server('effective_performance_issue_same', 'true')],
  ['sampling-in-result', server('effective_accuracy_log_sampling_target', '4096')],
  [
    'sut-name',
    server('sut_name', '"sut-a"'),
    { also: ['summary-differs', 'audit-of-another-run', 'sut-names-differ'] },
  ],
  [
    'sut-name',
    server('sut_name', '"network sut: sut-a"'),
    { also: ['summary-differs', 'audit-of-another-run', 'sut-names-differ'] },
  ],
  ['performance-samples-few', server('effective_performance_sample_count', '1023')],
  ['duration-short', server('effective_min_duration_ms', '599999')],
  ['queries-few', offline('effective_min_query_count', '0')],
  ['offline-samples-few', offline('effective_samples_per_query', '24575')],
  ['latency-bound-loose', server('effective_target_latency_ns', '15000001')],
  ['percentile-low', server('effective_target_latency_percentile', '0.9')],
  ['early-stopping-not-met', server('early_stopping_met', 'false')],
  ['p99-above-bound', server('result_99.00_percentile_latency_ns', '15000001')],
  ['metric-missing', offline('result_samples_per_second', null)],
  ['name-without-round-trip', server('get_sut_name_duration_ns', '400')],
  // A record of an error.
  ['error-in-log', append(SERVER_LOG, ERROR_RECORD)],
  // A record of an error that is marked with a text.
  ['error-in-log', append(SERVER_LOG, ERROR_RECORD.replace('true', '"true"'))],
  // INVALID behind VALID.
  ['record-twice', append(SERVER_LOG, OTHER_VERDICT)],
  // A summary that counts errors.
  ['errors-in-summary', append(SUMMARY, '\n3 ERRORS encountered. See log.\n')],
  // A byte order mark in front of the first record.
  ['log-first-line', prepend(SERVER_LOG, '\ufeff')],
  // A log that is cut in a record behind the last one that counts.
  ['log-cut', rewrite(SERVER_LOG, (text) => text.slice(0, -20))],
  // A record with broken JSON.
  ['log-damaged', append(SERVER_LOG, ':::MLLOG {"key": }\n')],
  // A line in front of the first record.
  ['log-first-line', prepend(SERVER_LOG, 'copied by hand\n')],
  ['log-empty', write(ACCURACY_DETAIL, 'nothing\n')],
  // A summary without a verdict.
  ['summary-unusable', replace(SUMMARY, /^Result is.*\n/m, '')],
  // A summary with another rate.
  ['summary-differs', replace(SUMMARY, /^(Completed samples per second\s*: ).*/m, '$131')],
];

const SCORE = `${ACCURACY}/accuracy.txt`;
const ACCURACY_LOG = `${ACCURACY}/mlperf_log_accuracy.json`;
const HASH = /^hash=.*\n/m;
const OTHER_HASH = `hash=${'ab'.repeat(32)}\n`;

const ACCURACIES: readonly FaultRow[] = [
  // One unit below the target: the lowest accuracy that counts is 75.6954.
  [
    'accuracy-below-target',
    replace(SCORE, /^accuracy=.*/, 'accuracy=75.694%, good=37847, total=50000'),
  ],
  // A line that the official pattern does not match.
  ['accuracy-metric-missing', replace(SCORE, 'accuracy=', 'Accuracy: ')],
  // Two results.
  ['accuracy-line-twice', prepend(SCORE, 'accuracy=77.000%, good=38500, total=50000\n')],
  // An accuracy of half of the data set.
  ['accuracy-total-differs', replace(SCORE, 'good=38250, total=50000', 'good=19125, total=25000')],
  // An accuracy that its own counts contradict.
  ['accuracy-impossible', replace(SCORE, /good=\d+/, 'good=100')],
  // An accuracy above 100 %.
  [
    'accuracy-impossible',
    replace(SCORE, /^accuracy=[\d.]+%, good=\d+/, 'accuracy=101.500%, good=50750'),
  ],
  // The accuracy of the other scenario.
  ['accuracy-log-shared', copy(SCORE, `${RESULTS}/Offline/accuracy/accuracy.txt`), { at: SCORE }],
  ['accuracy-count-differs', accuracy('qsl_reported_total_count', '25000')],
  // No hash.
  ['hash-missing', replace(SCORE, HASH, '')],
  // A hash that is none.
  ['hash-malformed', replace(SCORE, HASH, 'hash=1234\n')],
  // A tree that was truncated twice.
  ['hash-twice', append(SCORE, OTHER_HASH)],
  // A hash of another log.
  ['hash-wrong', replace(SCORE, HASH, OTHER_HASH), { at: ACCURACY_LOG }],
  // An accuracy log of 10,241 bytes.
  ['accuracy-log-not-truncated', rewrite(ACCURACY_LOG, (text) => text.padEnd(10_241, '\n'))],
  // An accuracy log that was cut by hand.
  ['accuracy-log-damaged', rewrite(ACCURACY_LOG, (text) => text.slice(0, 4096))],
  ['accuracy-log-empty', write(ACCURACY_LOG, '[\n]\n')],
  ['missing-file', remove(SCORE)],
];

const TEST01 = `${COMPLIANCE}/TEST01`;
const TEST04 = `${COMPLIANCE}/TEST04`;
const TEST05 = `${COMPLIANCE}/TEST05`;
const VERIFIED01 = `${TEST01}/verify_accuracy.txt`;
const VERIFIED04 = `${TEST04}/verify_performance.txt`;
const BASELINE = `${TEST01}/accuracy/baseline_accuracy.txt`;
const COMPARED = `${TEST01}/accuracy/compliance_accuracy.txt`;
const tested = (test: string, key: string, value: string): Change =>
  record(`${test}/performance/run_1/mlperf_log_detail.txt`, key, value);

const COMPLIANCE_TESTS: readonly FaultRow[] = [
  ['test-extra-file', write(`${TEST04}/performance/run_1/notes.txt`)],
  ['test-missing', remove(TEST05)],
  // A test that the model does not have.
  ['test-extra-file', write(`${TEST04}/performance/run_1/notes.txt`)],
  ['test-not-asked', copy(TEST04, `${COMPLIANCE}/TEST06`)],
  // A test that did not pass.
  ['test-not-passed', replace(VERIFIED04, 'PASS', 'FAIL')],
  // A test that failed and passed.
  ['test-verdict-mixed', prepend(VERIFIED04, 'TEST FAIL\n')],
  ['missing-file', remove(VERIFIED01)],
  ['test-settings-wrong', tested(TEST04, 'effective_performance_issue_same', 'false')],
  ['test-settings-wrong', tested(TEST01, 'effective_accuracy_log_sampling_target', '0')],
  ['seed-wrong', tested(TEST05, 'effective_qsl_rng_seed', '3066443479025735752')],
  ['result-invalid', tested(TEST01, 'result_validity', '"INVALID"'), { also: ['summary-differs'] }],
  [
    'test-rate-differs',
    tested(TEST04, 'result_completed_samples_per_sec', '31'),
    { also: ['summary-differs'] },
  ],
  ['baseline-beside-pass', write(BASELINE, 'accuracy=76.000%\n')],
  // Other responses and no baseline.
  ['baseline-missing', replace(VERIFIED01, 'PASS', 'FAIL'), { at: BASELINE }],
  // A baseline that is 2.5 % off.
  [
    'baseline-differs',
    [
      write(COMPARED, 'accuracy=74.100%\n'),
      write(BASELINE, 'accuracy=76.000%\n'),
      replace(VERIFIED01, 'PASS', 'FAIL'),
    ],
  ],
  // A log of TEST01 that is not truncated.
  [
    'test01-log-not-truncated',
    rewrite(`${TEST01}/accuracy/mlperf_log_accuracy.json`, (text) => text.padEnd(10_241)),
  ],
  // No hash in TEST01.
  ['test01-hash-missing', replace(`${TEST01}/accuracy/accuracy.txt`, HASH, '')],
];

export const RUN_FAULTS = [...LOGS, ...ACCURACIES, ...COMPLIANCE_TESTS];
