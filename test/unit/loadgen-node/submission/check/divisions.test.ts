/**
 * Differences between divisions and suites: inferred results of edge systems, open without bounds,
 * closed with or without the keys of a network, links of several nodes. Trees are in the words of
 * the C++ LoadGen.
 */
import { expect, it } from 'vitest';
import type { SubmissionRound } from '../../../../../loadgen-node/submission/rules/submission-rounds.ts';
import { NETWORK_FIELDS } from '../../../../../loadgen-node/submission/tree/system-fields.ts';
import {
  type Change,
  copy,
  json,
  move,
  record,
  replace,
  write,
} from '../../../../scenes/submission-tree/changes.ts';
import {
  checkedTree,
  type TreeOptions,
} from '../../../../scenes/submission-tree/submission-tree.ts';

const OPEN = { division: 'open', scenarios: ['Offline'] } as const;
const EDGE: TreeOptions = {
  systemType: 'edge',
  scenarios: ['SingleStream'],
  records: {
    early_stopping_latency_ms: '9000000',
    result_qps_without_loadgen_overhead: '111.5',
  },
};
const RESULTS = 'closed/ACME/results/acme/resnet50';

/** Ids of all findings of a tree, and the figures of its results. */
async function check(tree: TreeOptions): Promise<{ ids: readonly string[]; values: unknown[] }> {
  const { ids, results } = await checkedTree(tree, { round: tree.round ?? 'v4.1' });
  return { ids, values: results.map(({ metric, value }) => [metric, value]) };
}

/** Copies of the folders of a scenario, as the rules have it for inferred results. */
const inferredOf = (model: string, from: string, ...scenarios: readonly string[]): Change[] =>
  scenarios.flatMap((scenario) =>
    ['results', 'measurements', 'compliance'].map((kind) => {
      const folder = `closed/ACME/${kind}/acme/${model}`;
      return copy(`${folder}/${from}`, `${folder}/${scenario}`);
    }),
  );
const inferred = (from: string, ...scenarios: readonly string[]): Change[] =>
  inferredOf('resnet50', from, ...scenarios);

const BOTH = inferred('SingleStream', 'MultiStream', 'Offline');

it('takes copies of SingleStream as inferred results of an edge system, and tells it', async () => {
  const { ids, values } = await check({ ...EDGE, changes: BOTH });
  expect(ids).toEqual(['result-inferred']);
  expect(values).toEqual([
    ['early_stopping_latency_ms', 72_000_000],
    ['result_samples_per_second', 111.5],
    ['early_stopping_latency_ss', 50],
  ]);
});

it('takes an inferred Offline of a system of both suites, and asks about it', async () => {
  const systemType = 'datacenter,edge';
  const changes = inferredOf('3d-unet-99', 'SingleStream', 'Offline');
  const tree = { ...EDGE, systemType, model: '3d-unet-99', changes } as const;
  const { findings, results } = await checkedTree(tree);
  expect(findings.map(({ id, severity }) => [id, severity])).toEqual([
    ['inferred-in-datacenter', 'warning'],
  ]);
  expect(results.find(({ scenario }) => scenario === 'Offline')?.value).toBe(111.5);
});

it.each<[string, TreeOptions, string]>([
  [
    'are no copies',
    {
      changes: [
        ...BOTH,
        record(`${RESULTS}/Offline/performance/run_1/mlperf_log_detail.txt`, 'qsl_name', '"other"'),
      ],
    },
    'scenario-differs',
  ],
  [
    'are of a system of the datacenter suite',
    { systemType: 'datacenter', changes: BOTH },
    'scenario-differs',
  ],
  [
    'lack what the result is computed from',
    { records: { early_stopping_latency_ms: '0' }, changes: BOTH },
    'metric-missing',
  ],
  [
    'are inferred where the rules know no way',
    { scenarios: ['Offline'], changes: inferred('Offline', 'SingleStream') },
    'scenario-differs',
  ],
])('refuses results of another scenario that %s', async (_, tree, expected) => {
  expect((await check({ ...EDGE, ...tree })).ids).toContain(expected);
});

it('holds open against the latency bound, as the official tools do, and not against the percentile', async () => {
  const records = {
    effective_target_latency_ns: '90000000',
    effective_target_latency_percentile: '0.9',
  };
  const open = { ...OPEN, scenarios: ['Server'], records } as const;
  expect((await check(open)).ids).toEqual(['latency-bound-loose']);
  expect((await check({ records })).ids).toEqual(['latency-bound-loose', 'percentile-low']);
});

it.each<[TreeOptions, string]>([
  [{ ...OPEN }, 'warning'],
  [{ scenarios: ['Offline'] }, 'error'],
])(
  'asks about responses logged as in TEST01, which only closed and network have: %o',
  async (tree, severity) => {
    const records = { effective_accuracy_log_sampling_target: '4096' };
    const { findings } = await checkedTree({ ...tree, records }, { round: 'v4.1' });
    expect(findings.find(({ id }) => id === 'sampling-in-result')?.severity).toBe(severity);
  },
);

it('refuses a result of one sample in open as well', async () => {
  const records = { effective_performance_issue_same: 'true' };
  const { findings } = await checkedTree({ ...OPEN, records }, { round: 'v4.1' });
  expect(findings.map(({ id, severity }) => [id, severity])).toEqual([
    ['audit-in-result', 'error'],
  ]);
});

it.each([
  ['mIoU=71.300%', []],
  ['', ['accuracy-metric-missing']],
  ['no accuracy was measured', ['accuracy-metric-missing']],
])(
  'takes an accuracy of any metric in open, and misses one that is not reported: "%s"',
  async (line, expected) => {
    const score = 'open/ACME/results/acme/resnet50/Offline/accuracy/accuracy.txt';
    const changes = [replace(score, /^accuracy=.*/, line)];
    expect((await check({ ...OPEN, changes })).ids).toEqual(expected);
  },
);

it('asks about a closed result that was measured over a network', async () => {
  const records = { sut_name: '"Network SUT: sut-a"' };
  expect((await check({ records })).ids).toEqual(['closed-over-network']);
});

it.each<[string, SubmissionRound, unknown, string[]]>([
  ['"False" in v4.1', 'v4.1', 'False', []],
  ['"True"', 'v4.1', 'True', ['is-network-in-closed']],
  ['the JSON value false', 'v4.1', false, ['is-network-in-closed']],
  ['"False" alone in v5.0', 'v5.0', 'False', []],
  ['"False" alone in v6.0', 'v6.0', 'False', ['is-network-in-closed']],
])('reads is_network in closed: %s', async (_, round, value, expected) => {
  const changes = [json('closed/ACME/systems/acme.json', { is_network: value })];
  const model = { model: '3d-unet-99', scenarios: ['Offline'] } as const;
  expect((await check({ round, ...model, changes })).ids).toEqual(expected);
});

it('takes is_network "False" in closed of v5.0 where the other keys are there as well', async () => {
  const keys = Object.fromEntries(NETWORK_FIELDS.map(({ key }) => [key, 'N/A']));
  const changes = [json('closed/ACME/systems/acme.json', { ...keys, is_network: 'False' })];
  expect((await check({ round: 'v5.0', changes })).ids).toEqual([]);
});

it.each([
  // 50 samples/s of 3 x 224 x 224 x 4 bytes are 241 Mbit/s.
  ['one node', '1', '2', '200M', true],
  ['three nodes, a card each', '3', '3', '100M', false],
  ['three nodes, the LoadGen node with one card', '3', '1', '100M', true],
])(
  'divides what passes through the links among the nodes: %s',
  async (_, nodes, cards, rate, isTooSmall) => {
    const system = {
      number_of_nodes: nodes,
      number_nic_loadgen: cards,
      number_nic_sut: '1',
      network_rate: rate,
    };
    const { ids } = await check({
      division: 'network',
      changes: [json('network/ACME/systems/acme.json', system)],
    });
    expect(ids.includes('bandwidth-too-small')).toBe(isTooSmall);
  },
);

it('tells that a model is of the other suite in this round', async () => {
  const tree = { round: 'v5.0', model: 'bert-99' } as const;
  const { findings } = await checkedTree(tree, { round: 'v5.0' });
  expect(findings.find(({ id }) => id === 'model-unknown')?.seen).toBe(
    '"bert-99" is of the edge suite alone in v5.0, and the system of "datacenter".',
  );
});

/** A result of open under a name of its own. */
const renamed = (name: string): Change[] =>
  ['results/acme', 'measurements/acme', 'code'].map((kind) =>
    move(`open/ACME/${kind}/resnet50`, `open/ACME/${kind}/${name}`),
  );

// The official checkers were run on each: "has an invalid model digits" and no result; "model not
// known".
it.each([
  ['of no model', 'digits', undefined, ['model-unknown']],
  ['of the name of the folder', 'digits', 'resnet50', ['model-mapping-wrong', 'model-unknown']],
  ['of no name of the round', 'digits', 'foo', ['model-mapping-wrong', 'model-unknown']],
  ['of the official name', 'digits', 'resnet', []],
  ['of a name that the tools guess', 'my-resnet50-int4', undefined, []],
])(
  'refuses in open what the official tools refuse: a mapping %s',
  async (_, name, to, expected) => {
    const mapping = JSON.stringify({ [name]: to });
    const mapped = to === undefined ? [] : [write('open/ACME/model_mapping.json', mapping)];
    const { ids, values } = await check({ ...OPEN, changes: [...renamed(name), ...mapped] });
    expect(ids).toEqual(expected);
    expect(values).toEqual([['result_samples_per_second', 50]]);
  },
);

it('looks at the length of a run whose model nobody knows', async () => {
  const records = { effective_min_duration_ms: '10000' };
  const { ids } = await check({ ...OPEN, records, changes: renamed('digits') });
  expect(ids).toEqual(['duration-short', 'model-unknown']);
});
