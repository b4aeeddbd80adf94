/**
 * Shapes of published submissions: those that the official tool of the round accepts lead to no
 * error, what a rule's text asks for is a warning, and an error where it is asked to be strict.
 * What the tool refuses is refused.
 */
import { expect, it } from 'vitest';
import {
  type FindingId,
  Findings,
} from '../../../../../loadgen-node/submission/check/rules/findings.ts';
import {
  SUBMISSION_DIVISIONS,
  SUBMISSION_ROUNDS,
  type SubmissionRound,
} from '../../../../../loadgen-node/submission/rules/submission-rounds.ts';
import {
  type Change,
  copy,
  json,
  link,
  move,
  prepend,
  record,
  remove,
  replace,
  rewrite,
  write,
} from '../../../../scenes/submission-tree/changes.ts';
import {
  accuracyLogOf,
  checkedTree,
  idsOf,
  type TreeOptions,
} from '../../../../scenes/submission-tree/submission-tree.ts';

/** A shape, and the warnings that it leads to. */
type Shape = readonly [
  what: string,
  tree: TreeOptions,
  changes: readonly Change[],
  warnings: readonly FindingId[],
];

const UNET = { model: '3d-unet-99', scenarios: ['Offline'] } as const;
const V51 = { round: 'v5.1' } as const;
const OPEN = { division: 'open', scenarios: ['Offline'] } as const;

const ACME = 'closed/ACME';
const SERVER = `${ACME}/results/acme/resnet50/Server`;
const SERVER_LOG = `${SERVER}/performance/run_1/mlperf_log_detail.txt`;
const ACCURACY_LOG = `${SERVER}/accuracy/mlperf_log_accuracy.json`;
const SERVER_TESTS = `${ACME}/compliance/acme/resnet50/Server`;
const PERMUTATION = 'effective_sample_concatenate_permutation';
const RUN_LOG = 'performance/run_1/mlperf_log_detail.txt';

const CUT = 4096;

/** A log as the official tool cuts it, which reads every line end as one character. */
function cut(text: string): string {
  return `${text.slice(0, CUT)}\n\n...\n\n${text.slice(-CUT)}`;
}

/**
 * {@link cut} on Windows: line ends of two bytes, in the log that is cut and in what is written.
 */
function cutOnWindows(text: string): string {
  const tail = text.replaceAll('\n', '\r\n').slice(-CUT).replaceAll('\r\n', '\n').replace('\r', '');
  return `${text.slice(0, CUT)}\n\n...\n\n${tail}`.replaceAll('\n', '\r\n');
}

const described = (values: Readonly<Record<string, unknown>>): Change =>
  json(`${ACME}/systems/acme.json`, values);

const TREES: readonly Shape[] = [
  [
    'runs of a LoadGen that did not log whole permutations yet',
    UNET,
    [record(`${ACME}/results/acme/3d-unet-99/Offline/${RUN_LOG}`, PERMUTATION, null)],
    [],
  ],
  [
    'a model that the tool of v4.1 misses in its list, with another mlperf.conf',
    { model: 'gptj-99' },
    ['Server', 'Offline'].flatMap((scenario) => [
      record(`${ACME}/results/acme/gptj-99/${scenario}/${RUN_LOG}`, PERMUTATION, null),
      write(
        `${ACME}/measurements/acme/gptj-99/${scenario}/mlperf.conf`,
        '*.Offline.min_duration = 600000\n',
      ),
    ]),
    ['equal-issue-unknown'],
  ],
  [
    'more runs beside run_1',
    {},
    [copy(`${SERVER}/performance/run_1`, `${SERVER}/performance/run_2`)],
    ['extra-run'],
  ],
  [
    'the description and measurements of a system without results',
    {},
    [
      copy(`${ACME}/systems/acme.json`, `${ACME}/systems/acme-2.json`),
      copy(`${ACME}/measurements/acme`, `${ACME}/measurements/acme-2`),
    ],
    ['measurements-unused', 'system-unused'],
  ],
  [
    'sources behind a link to a folder',
    {},
    [move(`${ACME}/code/resnet50`, `${ACME}/code/vision`), link(`${ACME}/code/resnet50`, 'vision')],
    ['symlink-to-folder'],
  ],
  [
    'a TODO in a README below the sources',
    {},
    [write(`${ACME}/code/resnet50/own/README.md`, 'TODO - (the name of a person)\n')],
    ['todo-left'],
  ],
  [
    'models of v5.1 without the dot in their names',
    { ...V51, model: 'llama3.1-8b' },
    ['results/acme', 'measurements/acme', 'compliance/acme', 'code'].map((kind) =>
      move(`${ACME}/${kind}/llama3.1-8b`, `${ACME}/${kind}/llama3_1-8b`),
    ),
    [],
  ],
  [
    'the accuracy of deepseek-r1 that v5.1.1 asks for',
    { ...V51, model: 'deepseek-r1' },
    ['Server', 'Offline'].map((scenario) =>
      replace(
        `${ACME}/results/acme/deepseek-r1/${scenario}/accuracy/accuracy.txt`,
        /'exact_match': [\d.]+/,
        "'exact_match': 80.948",
      ),
    ),
    [],
  ],
];

const DESCRIPTIONS: readonly Shape[] = [
  [
    'memory without a word of ECC',
    {},
    [described({ host_memory_configuration: '16x 64GB DDR5' })],
    ['ecc-not-stated'],
  ],
  [
    'numbers in JSON',
    {},
    [
      described({
        number_of_nodes: 1,
        host_processor_core_count: 32,
        host_processors_per_node: 2,
        accelerators_per_node: 8,
        host_network_card_count: 4,
        hw_notes: null,
        sw_notes: 'none',
      }),
    ],
    [],
  ],
  [
    'versions of software as an object',
    {},
    [described({ other_software_stack: { driver: '535.129', runtime: '12.2' } })],
    ['field-not-plain'],
  ],
  [
    '"N/A" accelerators in v4.1',
    {},
    [described({ accelerators_per_node: 'N/A' })],
    ['field-not-number'],
  ],
  [
    'a network in the words of a person, with numbers in JSON',
    { division: 'network' },
    [
      json('network/ACME/systems/acme.json', {
        network_rate: '200Gbits/sec',
        number_nic_loadgen: '8 HCAs of the fabric',
        number_nic_sut: 8,
        number_connections: 64,
      }),
    ],
    ['network-rules-unproved'],
  ],
  [
    'a network without a diagram by name, and with empty keys',
    { division: 'network' },
    [
      remove('network/ACME/documentation/system_diagram.md'),
      json('network/ACME/systems/acme.json', { network_topology: '', nic_sut: '' }),
    ],
    ['diagram-missing', 'network-field-empty', 'network-rules-unproved'],
  ],
];

const LOGS: readonly Shape[] = [
  ['a stray line in front of a log of v4.1', {}, [prepend(SERVER_LOG, '\n')], ['log-first-line']],
  [
    'logs without what the tool does not read',
    {},
    [
      ...['sut_name', 'effective_min_query_count', 'early_stopping_met'].map((key) =>
        record(SERVER_LOG, key, null),
      ),
      ...['effective_qsl_rng_seed', 'effective_scenario', 'qsl_reported_total_count'].map((key) =>
        record(`${SERVER}/accuracy/mlperf_log_detail.txt`, key, null),
      ),
    ],
    [],
  ],
  [
    'an accuracy log that was cut on Windows',
    {},
    [write(ACCURACY_LOG, cutOnWindows(accuracyLogOf(50_000)))],
    [],
  ],
  [
    'an accuracy log of many lines per record that was cut',
    {},
    [write(ACCURACY_LOG, cut(JSON.stringify(JSON.parse(accuracyLogOf(50_000)), null, 2)))],
    [],
  ],
  [
    'a verdict behind other words on its line',
    {},
    [write(`${SERVER_TESTS}/TEST04/verify_performance.txt`, 'check: TEST PASS\n')],
    [],
  ],
  [
    'an accuracy log of TEST01 that was not cut',
    {},
    [write(`${SERVER_TESTS}/TEST01/accuracy/mlperf_log_accuracy.json`, accuracyLogOf(50_000))],
    ['test01-log-not-truncated'],
  ],
  [
    'an open result of other data, without a hash',
    { ...OPEN },
    [
      write(
        'open/ACME/results/acme/resnet50/Offline/accuracy/accuracy.txt',
        'accuracy=50.000%, good=481, total=962\n',
      ),
      record(
        'open/ACME/results/acme/resnet50/Offline/accuracy/mlperf_log_detail.txt',
        'qsl_reported_total_count',
        '962',
      ),
    ],
    ['accuracy-count-differs', 'accuracy-total-differs', 'hash-missing'],
  ],
  [
    'an open result without pictures',
    { model: 'stable-diffusion-xl', division: 'open' },
    [remove('open/ACME/results/acme/stable-diffusion-xl/Server/accuracy/images')],
    ['accuracy-file-missing'],
  ],
];

const ACCEPTED: readonly Shape[] = [...TREES, ...DESCRIPTIONS, ...LOGS];

/** Ids by severity of all findings. */
async function check(
  tree: TreeOptions,
  changes: readonly Change[],
  isStrict = false,
): Promise<{ errors: string[]; warnings: string[] }> {
  const { findings } = await checkedTree(
    { ...tree, changes },
    { round: tree.round ?? 'v4.1', isStrict },
  );
  const ofSeverity = (severity: string): string[] =>
    idsOf(findings.filter((one) => one.severity === severity));
  return { errors: ofSeverity('error'), warnings: ofSeverity('warning') };
}

it.each(ACCEPTED)('accepts as the official tool does: %s', async (_, tree, changes, warnings) => {
  expect(await check(tree, changes)).toEqual({ errors: [], warnings });
});

it.each(ACCEPTED.filter(([, , , warnings]) => warnings.length > 0))(
  'makes the warnings errors where it has to be strict: %s',
  async (_, tree, changes, warnings) => {
    expect(await check(tree, changes, true)).toEqual({ errors: warnings, warnings: [] });
  },
);

function severityOf(id: FindingId, round: SubmissionRound, division: string): string | undefined {
  const findings = new Findings(round, false);
  findings.add(id, `${division}/a.txt`, 'Seen.');
  return findings.all()[0]?.severity;
}

it.each<FindingId>([
  'scenario-differs',
  'mode-differs',
  'accuracy-log-empty',
  'audit-in-result',
  'test-settings-wrong',
  'test-rate-differs',
  'name-without-round-trip',
])('refuses in every round and division what the tree itself shows to be wrong: %s', (id) => {
  // Round v0.5 has a test of its own.
  const severities = SUBMISSION_ROUNDS.slice(1).flatMap((round) =>
    SUBMISSION_DIVISIONS.map((division) => severityOf(id, round, division)),
  );
  expect(new Set(severities)).toEqual(new Set(['error']));
});

// Shapes that an official tool of their round refuses, and a rate that is no number, which the
// tools report.
it.each<readonly [string, TreeOptions, readonly Change[], FindingId]>([
  [
    'a latency bound above the table, in open',
    {
      ...OPEN,
      scenarios: ['Server'],
      records: { effective_target_latency_ns: '1000000000' },
    },
    [],
    'latency-bound-loose',
  ],
  [
    'a description without results in v5.1',
    { ...V51, ...UNET },
    [copy(`${ACME}/systems/acme.json`, `${ACME}/systems/acme-2.json`)],
    'system-unused',
  ],
  [
    'measurements without results in v5.1',
    { ...V51, ...UNET },
    [copy(`${ACME}/measurements/acme`, `${ACME}/measurements/acme-2`)],
    'measurements-unused',
  ],
  [
    'unequal issue in open of v5.1',
    { ...V51, ...UNET, division: 'open', records: { [PERMUTATION]: 'false' } },
    [],
    'equal-issue-off',
  ],
  [
    'tokens without their latencies in the edge suite of v5.1',
    {
      ...V51,
      model: 'llama3.1-8b-edge',
      systemType: 'edge',
      scenarios: ['SingleStream', 'Offline'],
      records: { requested_use_token_latencies: 'false' },
    },
    [],
    'token-latencies-off',
  ],
  [
    'a metric in tokens without the one in samples',
    { ...V51, model: 'llama3.1-8b' },
    [
      record(
        `${ACME}/results/acme/llama3.1-8b/Offline/${RUN_LOG}`,
        'result_samples_per_second',
        null,
      ),
    ],
    'metric-missing',
  ],
  [
    'an error that is marked with a text',
    {},
    [replace(SERVER_LOG, '"is_error": false', '"is_error": "true"')],
    'error-in-log',
  ],
  [
    'a record without its mark of errors',
    {},
    [replace(SERVER_LOG, '"is_error": false, ', '')],
    'log-damaged',
  ],
  [
    'a rate that is beyond all numbers',
    { records: { result_completed_samples_per_sec: '1e400' } },
    [],
    'log-damaged',
  ],
  [
    'an accuracy.txt in Latin-1',
    {},
    [
      rewrite(`${SERVER}/accuracy/accuracy.txt`, (text) =>
        Buffer.from(`\u00e9\n${text}`, 'latin1'),
      ),
    ],
    'not-utf8',
  ],
])('refuses as the official tool does: %s', async (_, tree, changes, error) => {
  expect((await check(tree, changes)).errors).toContain(error);
});
