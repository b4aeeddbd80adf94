import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { modelOfFolder } from '../../../loadgen-node/submission/rules/models-of-rounds.ts';
import {
  modelInScenario,
  resultMetric,
  type SubmissionModel,
  type SubmissionScenario,
} from '../../../loadgen-node/submission/rules/submission-model.ts';
import {
  type SubmissionDivision,
  type SubmissionRound,
  seedsOfRound,
  test05SeedsOfRound,
} from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import { NETWORK_FIELDS } from '../../../loadgen-node/submission/tree/system-fields.ts';
import {
  type ResultPlace,
  type TreeLayout,
  treeLayout,
} from '../../../loadgen-node/submission/tree/tree-layout.ts';
import { sceneSystem } from './submission-scene.ts';

/** A tree whose logs are those of the C++ LoadGen, in its order and its words, for any model of the tables. */
export interface ForeignTree {
  /** Empty folder. */
  readonly root: string;
  readonly round: SubmissionRound;
  readonly division: SubmissionDivision;
  /** Folder of the model. */
  readonly model: string;
  readonly scenarios: readonly SubmissionScenario[];
  readonly systemType?: 'datacenter' | 'edge';
  /** Values of records of the performance logs, as JSON texts. */
  readonly records?: Readonly<Record<string, string>>;
}

/** Writes a tree that no official tool of the round refuses. */
export function writeForeignTree(tree: ForeignTree): void {
  const { root, round, division, scenarios, systemType = 'datacenter' } = tree;
  const model = modelOfFolder(round, tree.model);
  if (model === undefined) throw new Error(`${round} has no ${tree.model}`);
  const layout = treeLayout(round);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const system: Record<string, string> = { ...sceneSystem(systemType), division };
  if (division !== 'network') for (const { key } of NETWORK_FIELDS) delete system[key];
  write(layout.system(division, 'ACME', 'acme'), JSON.stringify(system));
  write(posix.join(layout.code(division, 'ACME'), tree.model, 'README.md'), 'code\n');
  write(posix.join(division, 'ACME', 'calibration.md'), 'none\n');
  for (const name of ['system_diagram', 'wire_protocol', 'bandwidth']) {
    write(posix.join(layout.documentation(division, 'ACME'), `${name}.md`), `${name}\n`);
  }
  for (const scenario of scenarios) {
    const place = { division, submitter: 'ACME', system: 'acme', model: tree.model, scenario };
    writeResult(write, layout, { tree, place, model: modelInScenario(model, scenario) });
  }
}

type Write = (path: string, text: string) => void;

interface ResultOf {
  readonly tree: ForeignTree;
  readonly place: ResultPlace;
  readonly model: SubmissionModel;
}

function writeResult(write: Write, layout: TreeLayout, result: ResultOf): void {
  const { place, model, tree } = result;
  const measurements = layout.measurements(place);
  write(posix.join(measurements, 'README.md'), 'how to run it\n');
  write(posix.join(measurements, 'user.conf'), `${model.benchmark}.Offline.target_qps = 100\n`);
  if (tree.round === 'v4.1') {
    const equal = model.isEqualIssue === true ? 1 : 0;
    const line = `${model.benchmark}.*.sample_concatenate_permutation = ${equal}\n`;
    write(posix.join(measurements, 'mlperf.conf'), line);
  }
  write(layout.measurementsFile(place, 'own'), JSON.stringify(WEIGHTS));
  writeRun(write, layout.performance(place), foreignLog(result, 'PerformanceOnly'));
  writeRun(write, layout.accuracy(place), foreignLog(result, 'AccuracyOnly'));
  writeAccuracy(write, layout.accuracy(place), result);
  for (const test of model.tests) {
    const folder = layout.compliance(place, test);
    write(posix.join(folder, 'verify_accuracy.txt'), VERIFIED);
    if (test === 'TEST06') continue;
    write(
      posix.join(folder, 'verify_performance.txt'),
      'performance check pass: True\nTEST PASS\n',
    );
    const log = foreignLog(result, 'PerformanceOnly', test);
    writeRun(write, posix.join(folder, 'performance', 'run_1'), log);
    if (test === 'TEST01') writeAccuracy(write, posix.join(folder, 'accuracy'), result);
  }
}

const WEIGHTS = {
  input_data_types: 'fp32',
  retraining: 'No',
  starting_weights_filename: 'weights',
  weight_data_types: 'fp32',
  weight_transformations: 'none',
};

const VERIFIED = `First token check pass: Skipped
EOS check pass: True
Sample length check pass: True
TEST PASS
`;

/** Lines of a summary that LoadGen and the compliance scripts agree about. */
const RATES: Readonly<Record<string, string>> = {
  Server: 'Completed samples per second    : 50.00',
  Offline: 'Samples per second: 50',
};

/** A closed system has no network. */
function sutName({ division }: ForeignTree): string {
  return division === 'closed' ? 'PySUT' : 'Network SUT: node';
}

function writeRun(write: Write, folder: string, log: ForeignLog): void {
  const scenario = String(JSON.parse(log['effective_scenario'] as string));
  write(posix.join(folder, 'mlperf_log_detail.txt'), foreignText(log));
  write(
    posix.join(folder, 'mlperf_log_summary.txt'),
    `SUT name : ${JSON.parse(log['sut_name'] as string)}\nScenario : ${scenario}\n${RATES[scenario] ?? ''}\nResult is : VALID\n`,
  );
}

function writeAccuracy(write: Write, folder: string, { model, place }: ResultOf): void {
  const data = Buffer.from(place.scenario).toString('hex').toUpperCase();
  const log = `[\n{ "seq_id" : 0, "qsl_idx" : 7, "data" : "${data}" }\n]\n`;
  const hash = createHash('sha256').update(log).digest('hex');
  write(posix.join(folder, 'mlperf_log_accuracy.json'), log);
  write(posix.join(folder, 'accuracy.txt'), `${accuracyLine(model)}\nhash=${hash}\n`);
  for (const id of model.accuracyFiles?.ids ?? []) {
    write(posix.join(folder, model.accuracyFiles?.folder ?? '', `${id}.png`), 'picture');
  }
}

const NAMES: Readonly<Record<string, string>> = {
  ROUGE1: 'rouge1',
  ROUGE2: 'rouge2',
  ROUGEL: 'rougeL',
  ROUGELSUM: 'rougeLsum',
  GEN_LEN: 'gen_len',
  TOKENS_PER_SAMPLE: 'tokens_per_sample',
};

/** What the official script would print of an accuracy that is just good enough. */
function accuracyLine({ accuracy, dataSetSamples }: SubmissionModel): string {
  const figure = (lower = 0): string => (lower + 0.001).toFixed(3);
  const [first] = accuracy;
  if (first?.metric === 'acc') {
    const good = Math.ceil((dataSetSamples * (first.lower ?? 0)) / 100);
    const percent = ((100 * good) / dataSetSamples).toFixed(3);
    return `accuracy=${percent}%, good=${good}, total=${dataSetSamples}`;
  }
  if (first?.metric === 'DICE') return `Accuracy: mean = ${figure(first.lower)}, kidney = 0.9`;
  const pairs = accuracy.map(
    ({ metric, lower }) => `'${NAMES[metric] ?? metric}': ${figure(lower)}`,
  );
  return `{${pairs.join(', ')}}`;
}

/** Keys of a detail log in LoadGen's order; the values as JSON texts. */
type ForeignLog = Record<string, string>;

/** Records of a run by the C++ LoadGen. */
function foreignLog({ tree, place, model }: ResultOf, mode: string, test?: string): ForeignLog {
  const { round } = tree;
  const scenario = place.scenario === 'Interactive' ? 'Server' : place.scenario;
  const own = test === 'TEST05' ? test05SeedsOfRound(round) : undefined;
  const seeds = own ?? seedsOfRound(round);
  const isPerformance = mode === 'PerformanceOnly';
  const tokens = model.tokenLatencies?.[place.scenario];
  const isOffline = scenario === 'Offline';
  return {
    loadgen_version: '"4.1 @ 9e0f9a3b21"',
    loadgen_build_date_local: '"2026-07-01T10:00:00.000000"',
    loadgen_git_commit_date: '"2024-07-01T00:00:00+00:00"',
    loadgen_git_status_message: '""',
    loadgen_file_sha1: '{"loadgen.cc": "0b2d"}',
    test_datetime: '"2026-07-02T10:00:00Z"',
    sut_name: JSON.stringify(sutName(tree)),
    get_sut_name_duration_ns: '812345',
    qsl_name: '"PySUT"',
    qsl_reported_total_count: String(model.accuracySamples ?? model.dataSetSamples),
    qsl_reported_performance_count: String(model.performanceSamples),
    ...(model.tokenLatencies !== undefined && { requested_use_token_latencies: 'true' }),
    requested_scenario: `"${scenario}"`,
    effective_scenario: `"${scenario}"`,
    effective_test_mode: `"${mode}"`,
    effective_samples_per_query: String(isOffline ? model.offlineSamples : 1),
    effective_target_latency_ns: String(isOffline ? 0 : (model.serverLatencyNs ?? 0)),
    effective_target_latency_percentile: '0.99',
    effective_min_duration_ms: '600000',
    effective_min_query_count: isOffline ? '1' : '100',
    effective_qsl_rng_seed: String(seeds.qsl_rng_seed),
    effective_sample_index_rng_seed: String(seeds.sample_index_rng_seed),
    effective_schedule_rng_seed: String(seeds.schedule_rng_seed),
    effective_accuracy_log_rng_seed: test === 'TEST01' ? '720381539243781796' : '0',
    effective_accuracy_log_sampling_target: test === 'TEST01' ? '4096' : '0',
    effective_performance_issue_unique: 'false',
    effective_performance_issue_same: String(test === 'TEST04'),
    effective_performance_sample_count: String(model.performanceSamples),
    effective_sample_concatenate_permutation: String(model.isEqualIssue === true),
    ...(isPerformance && {
      result_validity: '"VALID"',
      result_min_duration_met: 'true',
      early_stopping_met: 'true',
      ...(isOffline && { result_samples_per_second: '50' }),
      ...(scenario === 'Server' && { result_completed_samples_per_sec: '50' }),
      [resultMetric(model, place.scenario)]: '50',
      ...(tokens !== undefined && {
        'result_first_token_99.00_percentile_latency_ns': String(tokens.ttftNs - 1),
        'result_time_per_output_token_99.00_percentile_ns': String(tokens.tpotNs - 1),
      }),
      ...tree.records,
    }),
  };
}

/** The text of a detail log. */
function foreignText(log: ForeignLog): string {
  const lines = Object.entries(log).map(
    ([key, value], i) =>
      `:::MLLOG {"key": "${key}", "value": ${value}, "time_ms": ${i}.000001, "namespace": "mlperf::logging", ` +
      '"event_type": "POINT_IN_TIME", "metadata": {"is_error": false, "is_warning": false, "file": "logging.cc", ' +
      '"line_no": 464, "pid": 1, "tid": 1}}',
  );
  return `${lines.join('\n')}\n`;
}
