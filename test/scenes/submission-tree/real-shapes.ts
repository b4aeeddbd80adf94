import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { FindingId } from '../../../loadgen-node/submission/check/rules/findings.ts';
import type { ForeignTree } from '../../support/submission/foreign-tree.ts';
import type { MutableTree } from '../../support/submission/mutable-tree.ts';
import { accuracyLogOf } from '../../support/submission/submission-tree.ts';

/** A shape that published submissions have, and the warnings that it leads to. */
export interface RealShape {
  readonly what: string;
  readonly tree: Omit<ForeignTree, 'root'>;
  readonly change?: (tree: MutableTree) => void;
  readonly warnings: readonly FindingId[];
}

const RESNET = {
  round: 'v4.1',
  division: 'closed',
  model: 'resnet50',
  scenarios: ['Server', 'Offline'],
} as const;
const NETWORK = { ...RESNET, division: 'network' } as const;
const OPEN = { ...RESNET, division: 'open', scenarios: ['Offline'] } as const;
const UNET = { ...RESNET, model: '3d-unet-99', scenarios: ['Offline'] } as const;
const GPTJ = { ...RESNET, model: 'gptj-99' } as const;
const SDXL = { ...RESNET, model: 'stable-diffusion-xl' } as const;
const V51 = { ...RESNET, round: 'v5.1' } as const;

/** Folder of the closed Server result. */
const SERVER = 'closed/ACME/results/acme/resnet50/Server';
const SERVER_LOG = `${SERVER}/performance/run_1/mlperf_log_detail.txt`;
const SERVER_TESTS = 'closed/ACME/compliance/acme/resnet50/Server';
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
): NonNullable<RealShape['change']> {
  return (tree) =>
    tree.json(`${division}/ACME/systems/acme.json`, (system) => Object.assign(system, values));
}

const TREES: readonly RealShape[] = [
  {
    what: 'runs of a LoadGen that did not log whole permutations yet',
    tree: UNET,
    change: (tree) =>
      tree.record(
        'closed/ACME/results/acme/3d-unet-99/Offline/performance/run_1/mlperf_log_detail.txt',
        PERMUTATION,
        null,
      ),
    warnings: [],
  },
  {
    what: 'a model that the tool of v4.1 misses in its list, with another mlperf.conf',
    tree: GPTJ,
    change: (tree) => {
      for (const scenario of ['Server', 'Offline']) {
        const result = `closed/ACME/results/acme/gptj-99/${scenario}`;
        tree.record(`${result}/performance/run_1/mlperf_log_detail.txt`, PERMUTATION, null);
        const conf = `closed/ACME/measurements/acme/gptj-99/${scenario}/mlperf.conf`;
        tree.write(conf, '*.Offline.min_duration = 600000\n');
      }
    },
    warnings: ['equal-issue-unknown'],
  },
  {
    what: 'more runs beside run_1',
    tree: RESNET,
    change: (tree) => tree.copy(`${SERVER}/performance/run_1`, `${SERVER}/performance/run_2`),
    warnings: ['extra-run'],
  },
  {
    what: 'the description and measurements of a system without results',
    tree: RESNET,
    change: (tree) => {
      tree.copy('closed/ACME/systems/acme.json', 'closed/ACME/systems/acme-2.json');
      tree.copy('closed/ACME/measurements/acme', 'closed/ACME/measurements/acme-2');
    },
    warnings: ['measurements-unused', 'system-unused'],
  },
  {
    what: 'sources behind a link to a folder',
    tree: RESNET,
    change: (tree) => {
      tree.move('closed/ACME/code/resnet50', 'closed/ACME/code/vision');
      symlinkSync('vision', join(tree.root, 'closed/ACME/code/resnet50'));
    },
    warnings: ['symlink-to-folder'],
  },
  {
    what: 'a TODO in a README below the sources',
    tree: RESNET,
    change: (tree) =>
      tree.write('closed/ACME/code/resnet50/own/README.md', 'TODO - (the name of a person)\n'),
    warnings: ['todo-left'],
  },
  {
    what: 'models of v5.1 without the dot in their names',
    tree: { ...V51, model: 'llama3.1-8b' },
    change: (tree) => {
      for (const kind of ['results', 'measurements', 'compliance']) {
        const folder = `closed/ACME/${kind}/acme`;
        tree.move(`${folder}/llama3.1-8b`, `${folder}/llama3_1-8b`);
      }
      tree.move('closed/ACME/code/llama3.1-8b', 'closed/ACME/code/llama3_1-8b');
    },
    warnings: [],
  },
  {
    what: 'the accuracy of deepseek-r1 that v5.1.1 asks for',
    tree: { ...V51, model: 'deepseek-r1' },
    change: (tree) => {
      for (const scenario of ['Server', 'Offline']) {
        const path = `closed/ACME/results/acme/deepseek-r1/${scenario}/accuracy/accuracy.txt`;
        tree.edit(path, (text) => text.replace(/'exact_match': [\d.]+/, "'exact_match': 80.948"));
      }
    },
    warnings: [],
  },
];

const DESCRIPTIONS: readonly RealShape[] = [
  {
    what: 'memory without a word of ECC',
    tree: RESNET,
    change: describe('closed', { host_memory_configuration: '16x 64GB DDR5' }),
    warnings: ['ecc-not-stated'],
  },
  {
    what: 'numbers in JSON',
    tree: RESNET,
    change: describe('closed', {
      number_of_nodes: 1,
      host_processor_core_count: 32,
      host_processors_per_node: 2,
      accelerators_per_node: 8,
      host_network_card_count: 4,
      hw_notes: null,
      sw_notes: 'none',
    }),
    warnings: [],
  },
  {
    what: 'versions of software as an object',
    tree: RESNET,
    change: describe('closed', { other_software_stack: { driver: '535.129', runtime: '12.2' } }),
    warnings: ['field-not-plain'],
  },
  {
    what: '"N/A" accelerators in v4.1',
    tree: RESNET,
    change: describe('closed', { accelerators_per_node: 'N/A' }),
    warnings: ['field-not-number'],
  },
  {
    what: 'a network in the words of a person, with numbers in JSON',
    tree: NETWORK,
    change: describe('network', {
      network_rate: '200Gbits/sec',
      number_nic_loadgen: '8 HCAs of the fabric',
      number_nic_sut: 8,
      number_connections: 64,
    }),
    warnings: ['network-rules-unproved'],
  },
  {
    what: 'a network without a diagram by name, and with empty keys',
    tree: NETWORK,
    change: (tree) => {
      tree.remove('network/ACME/documentation/system_diagram.md');
      describe('network', { network_topology: '', nic_sut: '' })(tree);
    },
    warnings: ['diagram-missing', 'network-field-empty', 'network-rules-unproved'],
  },
];

const LOGS: readonly RealShape[] = [
  {
    what: 'a stray line in front of a log of v4.1',
    tree: RESNET,
    change: (tree) => tree.edit(SERVER_LOG, (text) => `\n${text}`),
    warnings: ['log-first-line'],
  },
  {
    what: 'logs without what the tool does not read',
    tree: RESNET,
    change: (tree) => {
      for (const key of ['sut_name', 'effective_min_query_count', 'early_stopping_met']) {
        tree.record(SERVER_LOG, key, null);
      }
      const accuracy = `${SERVER}/accuracy/mlperf_log_detail.txt`;
      for (const key of [
        'effective_qsl_rng_seed',
        'effective_scenario',
        'qsl_reported_total_count',
      ])
        tree.record(accuracy, key, null);
    },
    warnings: [],
  },
  {
    what: 'an accuracy log that was cut on Windows',
    tree: RESNET,
    change: (tree) =>
      tree.write(
        `${SERVER}/accuracy/mlperf_log_accuracy.json`,
        cutOnWindows(accuracyLogOf(50_000)),
      ),
    warnings: [],
  },
  {
    what: 'an accuracy log of many lines per record that was cut',
    tree: RESNET,
    change: (tree) => {
      const records: unknown = JSON.parse(accuracyLogOf(50_000));
      const text = cut(JSON.stringify(records, null, 2));
      tree.write(`${SERVER}/accuracy/mlperf_log_accuracy.json`, text);
    },
    warnings: [],
  },
  {
    what: 'a verdict behind other words on its line',
    tree: RESNET,
    change: (tree) =>
      tree.write(`${SERVER_TESTS}/TEST04/verify_performance.txt`, 'check: TEST PASS\n'),
    warnings: [],
  },
  {
    what: 'an accuracy log of TEST01 that was not cut',
    tree: RESNET,
    change: (tree) =>
      tree.write(`${SERVER_TESTS}/TEST01/accuracy/mlperf_log_accuracy.json`, accuracyLogOf(50_000)),
    warnings: ['test01-log-not-truncated'],
  },
  {
    what: 'an open result of other data, without a hash',
    tree: OPEN,
    change: (tree) => {
      const folder = 'open/ACME/results/acme/resnet50/Offline/accuracy';
      tree.write(`${folder}/accuracy.txt`, 'accuracy=50.000%, good=481, total=962\n');
      tree.record(`${folder}/mlperf_log_detail.txt`, 'qsl_reported_total_count', '962');
    },
    warnings: ['accuracy-count-differs', 'accuracy-total-differs', 'hash-missing'],
  },
  {
    what: 'an open result without pictures',
    tree: { ...SDXL, division: 'open' },
    change: (tree) =>
      tree.remove('open/ACME/results/acme/stable-diffusion-xl/Server/accuracy/images'),
    warnings: ['accuracy-file-missing'],
  },
];

/** Shapes that the official tool of their round accepts. */
export const ACCEPTED_SHAPES: readonly RealShape[] = [...TREES, ...DESCRIPTIONS, ...LOGS];

/** A shape that is refused, and by what. */
export interface RefusedShape extends Omit<RealShape, 'warnings'> {
  readonly error: FindingId;
}

/** Shapes that an official tool of their round refuses, and a rate that is no number, which the tools report. */
export const REFUSED_SHAPES: readonly RefusedShape[] = [
  {
    what: 'a latency bound above the table, in open',
    tree: {
      ...OPEN,
      scenarios: ['Server'],
      records: { effective_target_latency_ns: '1000000000' },
    },
    error: 'latency-bound-loose',
  },
  {
    what: 'a byte order mark in v5.0',
    tree: { ...RESNET, round: 'v5.0' },
    change: (tree) => tree.edit(SERVER_LOG, (text) => `\ufeff${text}`),
    error: 'log-first-line',
  },
  {
    what: 'a description without results in v5.1',
    tree: { ...V51, model: '3d-unet-99', scenarios: ['Offline'] },
    change: (tree) => tree.copy('closed/ACME/systems/acme.json', 'closed/ACME/systems/acme-2.json'),
    error: 'system-unused',
  },
  {
    what: 'measurements without results in v5.1',
    tree: { ...V51, model: '3d-unet-99', scenarios: ['Offline'] },
    change: (tree) => tree.copy('closed/ACME/measurements/acme', 'closed/ACME/measurements/acme-2'),
    error: 'measurements-unused',
  },
  {
    what: 'unequal issue in open of v5.1',
    tree: {
      ...V51,
      division: 'open',
      model: '3d-unet-99',
      scenarios: ['Offline'],
      records: { [PERMUTATION]: 'false' },
    },
    error: 'equal-issue-off',
  },
  {
    what: 'tokens without their latencies in the edge suite of v5.1',
    tree: {
      ...V51,
      model: 'llama3.1-8b-edge',
      systemType: 'edge',
      scenarios: ['SingleStream', 'Offline'],
      records: { requested_use_token_latencies: 'false' },
    },
    error: 'token-latencies-off',
  },
  {
    what: 'a metric in tokens without the one in samples',
    tree: { ...V51, model: 'llama3.1-8b' },
    change: (tree) =>
      tree.record(
        'closed/ACME/results/acme/llama3.1-8b/Offline/performance/run_1/mlperf_log_detail.txt',
        'result_samples_per_second',
        null,
      ),
    error: 'metric-missing',
  },
  {
    what: 'an error that is marked with a text',
    tree: RESNET,
    change: (tree) =>
      tree.edit(SERVER_LOG, (text) => text.replace('"is_error": false', '"is_error": "true"')),
    error: 'error-in-log',
  },
  {
    what: 'a record without its mark of errors',
    tree: RESNET,
    change: (tree) => tree.edit(SERVER_LOG, (text) => text.replace('"is_error": false, ', '')),
    error: 'log-damaged',
  },
  {
    what: 'a rate that is beyond all numbers',
    tree: { ...RESNET, records: { result_completed_samples_per_sec: '1e400' } },
    error: 'log-damaged',
  },
  {
    what: 'an accuracy.txt in Latin-1',
    tree: RESNET,
    change: (tree) => {
      const path = `${SERVER}/accuracy/accuracy.txt`;
      tree.write(path, Buffer.from(`\u00e9\n${tree.text(path)}`, 'latin1'));
    },
    error: 'not-utf8',
  },
];
