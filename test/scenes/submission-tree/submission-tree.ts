import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { type CheckOptions, checkTree } from '../../../loadgen-node/submission/check/check-tree.ts';
import type { CheckReport } from '../../../loadgen-node/submission/check/report/check-report.ts';
import { modelOfFolder } from '../../../loadgen-node/submission/rules/models-of-rounds.ts';
import {
  modelInScenario,
  resultMetric,
} from '../../../loadgen-node/submission/rules/submission-model.ts';
import {
  minDurationMs,
  roundsUpTo,
  type SubmissionDivision,
  type SubmissionRound,
  seedsOfRound,
  test05SeedsOfRound,
} from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import {
  NETWORK_FIELDS,
  SYSTEM_FIELDS,
  systemKeysOf,
} from '../../../loadgen-node/submission/tree/system-fields.ts';
import {
  type ResultPlace,
  type TreeLayout,
  treeLayout,
} from '../../../loadgen-node/submission/tree/tree-layout.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { SubmissionModel, SubmissionScenario } from '../../../shared/rules/rows/model-row.ts';
import { tempFolder, writeTree } from '../host/folders.ts';
import type { Change } from './changes.ts';
import { oldLogs } from './old-logs.ts';

/** Suites of a system, as its description names them. */
type SystemType = 'datacenter' | 'edge' | 'datacenter,edge';

/** A tree of the submitter ACME with one model on one system, "acme". */
export interface TreeOptions {
  /** Default: a folder of the running test. */
  readonly root?: string;
  /** Default: v4.1. */
  readonly round?: SubmissionRound;
  /** Default: closed. */
  readonly division?: SubmissionDivision;
  /** Folder of the model; default: resnet50. */
  readonly model?: string;
  /** Default: Server and Offline. */
  readonly scenarios?: readonly SubmissionScenario[];
  /** Default: datacenter. */
  readonly systemType?: SystemType;
  /** Values of records of the performance logs, as JSON texts. */
  readonly records?: Readonly<Record<string, string>>;
  /** As LoadGen wrote its logs before v1.0; default: as it does today. */
  readonly areLogsOld?: boolean;
  readonly changes?: readonly Change[];
}

type Files = Record<string, string>;

type TreeFacts = Required<Omit<TreeOptions, 'root' | 'changes'>>;

/**
 * Writes a tree with logs of the C++ LoadGen, in its order and its words, for any model of the
 * tables. Without changes no official tool of the round refuses it.
 * @returns The root.
 */
export function submissionTree(options: TreeOptions = {}): string {
  const { root = tempFolder(), changes = [], ...facts } = options;
  const files = treeFiles({
    round: 'v4.1',
    division: 'closed',
    model: 'resnet50',
    scenarios: ['Server', 'Offline'],
    systemType: 'datacenter',
    records: {},
    areLogsOld: false,
    ...facts,
  });
  writeTree(files, root);
  for (const { make } of changes) make(root);
  return root;
}

/** Checks a {@link submissionTree}; the ids of its findings are sorted, each once. */
export async function checkedTree(
  options: TreeOptions = {},
  how: CheckOptions = {},
): Promise<CheckReport & { readonly root: string; readonly ids: readonly string[] }> {
  const root = submissionTree(options);
  const report = await checkTree(root, how);
  return { ...report, root, ids: idsOf(report.findings) };
}

/** Ids of findings, sorted, each once. */
export function idsOf(findings: readonly { readonly id: string }[]): string[] {
  return [...new Set(findings.map(({ id }) => id))].sort();
}

/** A description in which everything is filled in. */
export function filledDescription(systemType: SystemType): Record<string, string> {
  const fields = [...SYSTEM_FIELDS, ...NETWORK_FIELDS].map(({ key }) => [key, 'N/A'] as const);
  return {
    ...Object.fromEntries(fields),
    division: 'network',
    submitter: 'ACME',
    status: 'available',
    system_name: 'two nodes of the test',
    system_type: systemType,
    number_of_nodes: '1',
    host_processors_per_node: '2',
    host_processor_model_name: 'A processor of the test',
    accelerators_per_node: '0',
    host_memory_configuration: '8 x 32 GB DDR5, ECC enabled',
    framework: 'ONNX Runtime 1.30.0',
    operating_system: 'Debian 12',
    is_network: 'True',
    network_type: 'Ethernet',
    network_media: 'Copper',
    network_rate: '25G',
    nic_loadgen: 'NVIDIA CX6',
    number_nic_loadgen: '1',
    net_software_stack_loadgen: 'Linux kernel TCP stack 6.1',
    network_protocol: 'TCP/IPv4 over Ethernet',
    number_connections: '2',
    nic_sut: 'NVIDIA CX6',
    number_nic_sut: '1',
    net_software_stack_sut: 'Linux kernel TCP stack 6.1',
    network_topology: 'LoadGen system connected to the SUT through a switch',
  };
}

function treeFiles(tree: TreeFacts): Files {
  const { round, division, scenarios, systemType } = tree;
  const model = modelOfFolder(round, tree.model);
  if (model === undefined) throw new Error(`${round} has no ${tree.model}`);
  const layout = treeLayout(round);
  const system: Record<string, string> = { ...filledDescription(systemType), division };
  const ofRound = new Set(systemKeysOf(round).map(({ key }) => key));
  for (const key of Object.keys(system)) {
    if (ofRound.has(key) || (division === 'network' && round !== 'v0.5')) continue;
    delete system[key];
  }
  // The check of v0.5 asks for the folder of the implementation.
  const implementation = round === 'v0.5' ? 'own' : '';
  const documents = ['system_diagram', 'wire_protocol', 'bandwidth'].map((name) => [
    posix.join(layout.documentation(division, 'ACME'), `${name}.md`),
    `${name}\n`,
  ]);
  const results = scenarios.map((scenario) => {
    const place = { division, submitter: 'ACME', system: 'acme', model: tree.model, scenario };
    return resultFiles({ tree, layout, place, model: modelInScenario(model, scenario) });
  });
  return Object.assign(
    {
      [layout.system(division, 'ACME', 'acme')]: JSON.stringify(system),
      [posix.join(layout.code(division, 'ACME'), tree.model, implementation, 'README.md')]:
        'code\n',
      [posix.join(division, 'ACME', 'calibration.md')]: 'none\n',
    },
    Object.fromEntries(documents),
    ...results,
  );
}

interface ResultOf {
  readonly tree: TreeFacts;
  readonly layout: TreeLayout;
  readonly place: ResultPlace;
  readonly model: SubmissionModel;
}

function resultFiles(result: ResultOf): Files {
  const { place, model, tree, layout } = result;
  const measurements = layout.measurements(place);
  const files: Files = {
    [posix.join(measurements, 'README.md')]: 'how to run it\n',
    [posix.join(measurements, 'user.conf')]: `${model.benchmark}.Offline.target_qps = 100\n`,
    [layout.measurementsFile(place, 'own')]: JSON.stringify(WEIGHTS),
    ...runFiles(layout.accuracy(place), logOf(result, 'AccuracyOnly'), tree.areLogsOld),
    ...accuracyFiles(layout.accuracy(place), result),
  };
  const runs = tree.round === 'v0.5' && place.scenario === 'Server' ? [1, 2, 3, 4, 5] : [1];
  for (const run of runs) {
    const log = { ...logOf(result, 'PerformanceOnly'), ...(runs.length > 1 && ratesOf(run)) };
    Object.assign(files, runFiles(layout.performance(place, run), log, tree.areLogsOld));
    if (tree.round !== 'v0.5') continue;
    files[posix.join(layout.performance(place, run), 'mlperf_log_accuracy.json')] = '[\n]\n';
  }
  if (tree.round === 'v0.5') files[posix.join(measurements, 'mlperf.conf')] = '# of the round\n';
  if (roundsUpTo('v4.1').includes(tree.round)) {
    const equal = model.isEqualIssue === true ? 1 : 0;
    const line = `${model.benchmark}.*.sample_concatenate_permutation = ${equal}\n`;
    files[posix.join(measurements, 'mlperf.conf')] = line;
  }
  for (const test of model.tests) Object.assign(files, testFiles(result, test));
  return files;
}

/** Makes several runs differ: 51 samples per second in the first, 55 in the last. */
function ratesOf(run: number): Log {
  return {
    test_datetime: `"2026-07-02T10:0${run}:00Z"`,
    result_scheduled_samples_per_sec: String(50 + run),
    result_completed_samples_per_sec: '50',
  };
}

function testFiles(result: ResultOf, test: SubmissionModel['tests'][number]): Files {
  const folder = result.layout.compliance(result.place, test);
  const verified = { [posix.join(folder, 'verify_accuracy.txt')]: VERIFIED };
  if (test === 'TEST06') return verified;
  const log = logOf(result, 'PerformanceOnly', test);
  return {
    ...verified,
    [posix.join(folder, 'verify_performance.txt')]: 'performance check pass: True\nTEST PASS\n',
    ...runFiles(posix.join(folder, 'performance', 'run_1'), log),
    ...(test === 'TEST01' && accuracyFiles(posix.join(folder, 'accuracy'), result)),
  };
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

/** Records of a detail log in LoadGen's order; the values as JSON texts. */
type Log = Readonly<Record<string, string>>;

function runFiles(folder: string, log: Log, areOld = false): Files {
  if (areOld) {
    const { detail, summary } = oldLogs(log);
    return {
      [posix.join(folder, 'mlperf_log_detail.txt')]: detail,
      [posix.join(folder, 'mlperf_log_summary.txt')]: summary,
    };
  }
  const scenario = String(JSON.parse(log['effective_scenario'] as string));
  const detail = Object.entries(log).map(
    ([key, value], i) =>
      `:::MLLOG {"key": "${key}", "value": ${value}, "time_ms": ${i}.000001, "namespace": "mlperf::logging", ` +
      '"event_type": "POINT_IN_TIME", "metadata": {"is_error": false, "is_warning": false, "file": "logging.cc", ' +
      '"line_no": 464, "pid": 1, "tid": 1}}\n',
  );
  return {
    [posix.join(folder, 'mlperf_log_detail.txt')]: detail.join(''),
    [posix.join(folder, 'mlperf_log_summary.txt')]:
      `SUT name : ${JSON.parse(log['sut_name'] as string)}\nScenario : ${scenario}\n${RATES[scenario] ?? ''}\nResult is : VALID\nperformance_sample_count : ${log['effective_performance_sample_count']}\n`,
  };
}

function accuracyFiles(folder: string, { model, place }: ResultOf): Files {
  const data = Buffer.from(place.scenario).toString('hex').toUpperCase();
  const log = `[\n{ "seq_id" : 0, "qsl_idx" : 7, "data" : "${data}" }\n]\n`;
  const hash = createHash('sha256').update(log).digest('hex');
  const pictures = (model.accuracyFiles?.ids ?? []).map((id) => [
    posix.join(folder, model.accuracyFiles?.folder ?? '', `${id}.png`),
    'picture',
  ]);
  return {
    [posix.join(folder, 'mlperf_log_accuracy.json')]: log,
    [posix.join(folder, 'accuracy.txt')]:
      `${accuracyLine(model)}\n${model.v05 === undefined ? `hash=${hash}\n` : ''}`,
    ...Object.fromEntries(pictures),
  };
}

const NAMES: Readonly<Record<string, string>> = {
  ROUGE1: 'rouge1',
  ROUGE2: 'rouge2',
  ROUGEL: 'rougeL',
  ROUGELSUM: 'rougeLsum',
  GEN_LEN: 'gen_len',
  TOKENS_PER_SAMPLE: 'tokens_per_sample',
};

/** Line of the official script for an accuracy that is just good enough. */
function accuracyLine({ accuracy, dataSetSamples }: SubmissionModel): string {
  const figure = (lower = 0): string => (lower + 0.001).toFixed(3);
  const [first] = accuracy;
  if (first?.metric === 'acc') {
    const good = Math.ceil((dataSetSamples * (first.lower ?? 0)) / 100);
    const percent = ((100 * good) / dataSetSamples).toFixed(3);
    return `accuracy=${percent}%, good=${good}, total=${dataSetSamples}`;
  }
  if (first?.metric === 'BLEU')
    return `BLEU: ${(Math.ceil((first.lower ?? 0) * 10) / 10).toFixed(1)}`;
  if (first?.metric === 'WER') return `Word Error Rate: 0.07, accuracy=${figure(first.lower)}%`;
  if (first?.metric === 'AUC') return `AUC=${figure(first.lower)}%`;
  if (first?.metric === 'F1') return `{"exact_match": 83.1, "f1": ${figure(first.lower)}}`;
  if (first?.metric === 'mAP') return `mAP=${figure(first.lower)}%`;
  if (first?.metric === 'DICE') return `Accuracy: mean = ${figure(first.lower)}, kidney = 0.9`;
  const pairs = accuracy.map(
    ({ metric, lower }) => `'${NAMES[metric] ?? metric}': ${figure(lower)}`,
  );
  return `{${pairs.join(', ')}}`;
}

/** A closed system has no network. */
const SUT_NAMES: Readonly<Record<SubmissionDivision, string>> = {
  closed: '"PySUT"',
  network: '"Network SUT: node"',
  open: '"Network SUT: node"',
};

/** Settings of round v0.5; none in other rounds. */
function demandsOfV05({ v05 }: SubmissionModel, scenario: Scenario): Log {
  if (v05 === undefined) return {};
  return {
    effective_target_latency_percentile: String(v05.percentiles[scenario]),
    effective_min_query_count: String(v05.minQueries[scenario]),
    ...(scenario === 'MultiStream' && { effective_target_qps: String(1e9 / v05.intervalNs) }),
  };
}

/** Version of LoadGen in logs of a round: those of later rounds do not matter. */
function versionOf(round: SubmissionRound): string {
  return roundsUpTo('v4.1').includes(round) ? round.slice(1) : '4.1';
}

/** Records of a run by the C++ LoadGen. */
function logOf({ tree, place, model }: ResultOf, mode: string, test?: string): Log {
  const { round } = tree;
  const scenario = place.scenario === 'Interactive' ? 'Server' : place.scenario;
  const own = test === 'TEST05' ? test05SeedsOfRound(round) : undefined;
  const seeds = own ?? seedsOfRound(round);
  const isPerformance = mode === 'PerformanceOnly';
  const tokens = model.tokenLatencies?.[place.scenario];
  const isOffline = scenario === 'Offline';
  return {
    loadgen_version: `"${versionOf(round)} @ 9e0f9a3b21"`,
    loadgen_build_date_local: '"2026-07-01T10:00:00.000000"',
    loadgen_git_commit_date: '"2024-07-01T00:00:00+00:00"',
    loadgen_git_status_message: '""',
    loadgen_file_sha1: '{"loadgen.cc": "0b2d"}',
    test_datetime: '"2026-07-02T10:00:00Z"',
    sut_name: SUT_NAMES[tree.division],
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
    effective_min_duration_ms: String(minDurationMs(round)),
    effective_min_query_count: isOffline ? '1' : '100',
    ...demandsOfV05(model, scenario),
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

/** An accuracy log in LoadGen's form of exactly so many bytes; blanks before its end fill it up. */
export function accuracyLogOf(bytes: number): string {
  const end = '\n]\n';
  let text = '[\n';
  for (let i = 0; ; i += 1) {
    const entry = `${i === 0 ? '' : ',\n'}{ "seq_id" : ${i}, "qsl_idx" : ${i}, "data" : "0A0B0C0D" }`;
    if (text.length + entry.length + end.length > bytes) break;
    text += entry;
  }
  return text + ' '.repeat(bytes - text.length - end.length) + end;
}
