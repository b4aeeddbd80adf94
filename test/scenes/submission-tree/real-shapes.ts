import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { FindingId } from '../../../loadgen-node/submission/check/rules/findings.ts';
import type { ForeignTree } from '../../support/submission/foreign-tree.ts';
import type { MutableTree } from '../../support/submission/mutable-tree.ts';
import { accuracyLogOf } from '../../support/submission/submission-tree.ts';

type Tree = Omit<ForeignTree, 'root'>;
type Change = (tree: MutableTree) => void;

/** A shape that submissions have, and what is found in it. */
function shape<F extends FindingId | readonly FindingId[]>(
  what: string,
  tree: Tree,
  found: F,
  change?: Change,
) {
  return { what, tree, found, change };
}

const RESNET = {
  ...({ round: 'v4.1', division: 'closed', model: 'resnet50' } as const),
  scenarios: ['Server', 'Offline'],
} as const;
const NETWORK = { ...RESNET, division: 'network' } as const;
const OPEN = { ...RESNET, division: 'open', scenarios: ['Offline'] } as const;
const UNET = { ...RESNET, model: '3d-unet-99', scenarios: ['Offline'] } as const;
const GPTJ = { ...RESNET, model: 'gptj-99' } as const;
const SDXL = { ...RESNET, model: 'stable-diffusion-xl' } as const;
const V51 = { ...RESNET, round: 'v5.1' } as const;
const LLAMA = { ...V51, model: 'llama3.1-8b' } as const;
const UNET51 = { ...UNET, round: 'v5.1' } as const;

/** Folder of the closed Server result. */
const SERVER = 'closed/ACME/results/acme/resnet50/Server';
const SERVER_TESTS = 'closed/ACME/compliance/acme/resnet50/Server';
const runLog = (model: string, scenario: string): string =>
  `closed/ACME/results/acme/${model}/${scenario}/performance/run_1/mlperf_log_detail.txt`;
const SERVER_LOG = runLog('resnet50', 'Server');
const PERMUTATION = 'effective_sample_concatenate_permutation';

const CUT = 4096;

/** A log as the official tool cuts it, which reads every line end as one character. */
function cut(text: string): string {
  return `${text.slice(0, CUT)}\n\n...\n\n${text.slice(-CUT)}`;
}

/** {@link cut} on Windows: line ends of two bytes, in the log that is cut and in what is written. */
function cutOnWindows(text: string): string {
  const tail = text.replaceAll('\n', '\r\n').slice(-CUT).replaceAll('\r\n', '\n').replace('\r', '');
  return `${text.slice(0, CUT)}\n\n...\n\n${tail}`.replaceAll('\n', '\r\n');
}

function describe(
  division: 'closed' | 'network',
  values: Readonly<Record<string, unknown>>,
): Change {
  return (tree) =>
    tree.json(`${division}/ACME/systems/acme.json`, (system) => Object.assign(system, values));
}

const TREES = [
  shape('runs of a LoadGen that did not log whole permutations yet', UNET, [], (tree) =>
    tree.record(runLog('3d-unet-99', 'Offline'), PERMUTATION, null),
  ),
  shape(
    'a model that the tool of v4.1 misses in its list, with another mlperf.conf',
    GPTJ,
    ['equal-issue-unknown'],
    (tree) => {
      for (const scenario of ['Server', 'Offline']) {
        tree.record(runLog('gptj-99', scenario), PERMUTATION, null);
        const conf = `closed/ACME/measurements/acme/gptj-99/${scenario}/mlperf.conf`;
        tree.write(conf, '*.Offline.min_duration = 600000\n');
      }
    },
  ),
  shape('more runs beside run_1', RESNET, ['extra-run'], (tree) =>
    tree.copy(`${SERVER}/performance/run_1`, `${SERVER}/performance/run_2`),
  ),
  shape(
    'the description and measurements of a system without results',
    RESNET,
    ['measurements-unused', 'system-unused'],
    (tree) => {
      tree.copy('closed/ACME/systems/acme.json', 'closed/ACME/systems/acme-2.json');
      tree.copy('closed/ACME/measurements/acme', 'closed/ACME/measurements/acme-2');
    },
  ),
  shape('sources behind a link to a folder', RESNET, ['symlink-to-folder'], (tree) => {
    tree.move('closed/ACME/code/resnet50', 'closed/ACME/code/vision');
    symlinkSync('vision', join(tree.root, 'closed/ACME/code/resnet50'));
  }),
  shape('a TODO in a README below the sources', RESNET, ['todo-left'], (tree) =>
    tree.write('closed/ACME/code/resnet50/own/README.md', 'TODO - (the name of a person)\n'),
  ),
  shape('models of v5.1 without the dot in their names', LLAMA, [], (tree) => {
    for (const kind of ['results', 'measurements', 'compliance']) {
      const folder = `closed/ACME/${kind}/acme`;
      tree.move(`${folder}/llama3.1-8b`, `${folder}/llama3_1-8b`);
    }
    tree.move('closed/ACME/code/llama3.1-8b', 'closed/ACME/code/llama3_1-8b');
  }),
  shape(
    'the accuracy of deepseek-r1 that v5.1.1 asks for',
    { ...V51, model: 'deepseek-r1' },
    [],
    (tree) => {
      for (const scenario of ['Server', 'Offline']) {
        const path = `closed/ACME/results/acme/deepseek-r1/${scenario}/accuracy/accuracy.txt`;
        tree.edit(path, (text) => text.replace(/'exact_match': [\d.]+/, "'exact_match': 80.948"));
      }
    },
  ),
];

const DESCRIPTIONS = [
  shape(
    'memory without a word of ECC',
    RESNET,
    ['ecc-not-stated'],
    describe('closed', { host_memory_configuration: '16x 64GB DDR5' }),
  ),
  shape(
    'numbers in JSON',
    RESNET,
    [],
    describe('closed', {
      number_of_nodes: 1,
      host_processor_core_count: 32,
      host_processors_per_node: 2,
      accelerators_per_node: 8,
      host_network_card_count: 4,
      hw_notes: null,
      sw_notes: 'none',
    }),
  ),
  shape(
    'versions of software as an object',
    RESNET,
    ['field-not-plain'],
    describe('closed', { other_software_stack: { driver: '535.129', runtime: '12.2' } }),
  ),
  shape(
    '"N/A" accelerators in v4.1',
    RESNET,
    ['field-not-number'],
    describe('closed', { accelerators_per_node: 'N/A' }),
  ),
  shape(
    'a network in the words of a person, with numbers in JSON',
    NETWORK,
    ['network-rules-unproved'],
    describe('network', {
      network_rate: '200Gbits/sec',
      number_nic_loadgen: '8 HCAs of the fabric',
      number_nic_sut: 8,
      number_connections: 64,
    }),
  ),
  shape(
    'a network without a diagram by name, and with empty keys',
    NETWORK,
    ['diagram-missing', 'network-field-empty', 'network-rules-unproved'],
    (tree) => {
      tree.remove('network/ACME/documentation/system_diagram.md');
      describe('network', { network_topology: '', nic_sut: '' })(tree);
    },
  ),
];

const LOGS = [
  shape('a stray line in front of a log of v4.1', RESNET, ['log-first-line'], (tree) =>
    tree.edit(SERVER_LOG, (text) => `\n${text}`),
  ),
  shape('logs without what the tool does not read', RESNET, [], (tree) => {
    for (const key of ['sut_name', 'effective_min_query_count', 'early_stopping_met']) {
      tree.record(SERVER_LOG, key, null);
    }
    const accuracy = `${SERVER}/accuracy/mlperf_log_detail.txt`;
    for (const key of ['effective_qsl_rng_seed', 'effective_scenario', 'qsl_reported_total_count'])
      tree.record(accuracy, key, null);
  }),
  shape('an accuracy log that was cut on Windows', RESNET, [], (tree) =>
    tree.write(`${SERVER}/accuracy/mlperf_log_accuracy.json`, cutOnWindows(accuracyLogOf(50_000))),
  ),
  shape('an accuracy log of many lines per record that was cut', RESNET, [], (tree) => {
    const records: unknown = JSON.parse(accuracyLogOf(50_000));
    const text = cut(JSON.stringify(records, null, 2));
    tree.write(`${SERVER}/accuracy/mlperf_log_accuracy.json`, text);
  }),
  shape('a verdict behind other words on its line', RESNET, [], (tree) =>
    tree.write(`${SERVER_TESTS}/TEST04/verify_performance.txt`, 'check: TEST PASS\n'),
  ),
  shape(
    'an accuracy log of TEST01 that was not cut',
    RESNET,
    ['test01-log-not-truncated'],
    (tree) =>
      tree.write(`${SERVER_TESTS}/TEST01/accuracy/mlperf_log_accuracy.json`, accuracyLogOf(50_000)),
  ),
  shape(
    'an open result of other data, without a hash',
    OPEN,
    ['accuracy-count-differs', 'accuracy-total-differs', 'hash-missing'],
    (tree) => {
      const folder = 'open/ACME/results/acme/resnet50/Offline/accuracy';
      tree.write(`${folder}/accuracy.txt`, 'accuracy=50.000%, good=481, total=962\n');
      tree.record(`${folder}/mlperf_log_detail.txt`, 'qsl_reported_total_count', '962');
    },
  ),
  shape(
    'an open result without pictures',
    { ...SDXL, division: 'open' },
    ['accuracy-file-missing'],
    (tree) => tree.remove('open/ACME/results/acme/stable-diffusion-xl/Server/accuracy/images'),
  ),
];

/** Shapes that the official tool of their round accepts. */
export const ACCEPTED_SHAPES = [...TREES, ...DESCRIPTIONS, ...LOGS];

/** Shapes that an official tool of their round refuses, and a rate that is no number, which the tools report. */
export const REFUSED_SHAPES = [
  shape(
    'a latency bound above the table, in open',
    { ...OPEN, scenarios: ['Server'], records: { effective_target_latency_ns: '1000000000' } },
    'latency-bound-loose',
  ),
  shape('a byte order mark in v5.0', { ...RESNET, round: 'v5.0' }, 'log-first-line', (tree) =>
    tree.edit(SERVER_LOG, (text) => `\ufeff${text}`),
  ),
  shape('a description without results in v5.1', UNET51, 'system-unused', (tree) =>
    tree.copy('closed/ACME/systems/acme.json', 'closed/ACME/systems/acme-2.json'),
  ),
  shape('measurements without results in v5.1', UNET51, 'measurements-unused', (tree) =>
    tree.copy('closed/ACME/measurements/acme', 'closed/ACME/measurements/acme-2'),
  ),
  shape(
    'unequal issue in open of v5.1',
    { ...UNET51, division: 'open', records: { [PERMUTATION]: 'false' } },
    'equal-issue-off',
  ),
  shape(
    'tokens without their latencies in the edge suite of v5.1',
    {
      ...{ ...LLAMA, model: 'llama3.1-8b-edge', systemType: 'edge' },
      scenarios: ['SingleStream', 'Offline'],
      records: { requested_use_token_latencies: 'false' },
    },
    'token-latencies-off',
  ),
  shape('a metric in tokens without the one in samples', LLAMA, 'metric-missing', (tree) =>
    tree.record(runLog('llama3.1-8b', 'Offline'), 'result_samples_per_second', null),
  ),
  shape('an error that is marked with a text', RESNET, 'error-in-log', (tree) =>
    tree.edit(SERVER_LOG, (text) => text.replace('"is_error": false', '"is_error": "true"')),
  ),
  shape('a record without its mark of errors', RESNET, 'log-damaged', (tree) =>
    tree.edit(SERVER_LOG, (text) => text.replace('"is_error": false, ', '')),
  ),
  shape(
    'a rate that is beyond all numbers',
    { ...RESNET, records: { result_completed_samples_per_sec: '1e400' } },
    'log-damaged',
  ),
  shape('an accuracy.txt in Latin-1', RESNET, 'not-utf8', (tree) => {
    const path = `${SERVER}/accuracy/accuracy.txt`;
    tree.write(path, Buffer.from(`\u00e9\n${tree.text(path)}`, 'latin1'));
  }),
];
