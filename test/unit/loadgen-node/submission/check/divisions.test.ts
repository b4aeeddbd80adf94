/**
 * What one division or suite may and another may not: inferred results of edge systems, open without bounds, closed
 * with or without the keys of a network, links of several nodes. Trees are in the words of the C++ LoadGen.
 */
import { expect, it } from 'vitest';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import { NETWORK_FIELDS } from '../../../../../loadgen-node/submission/tree/system-fields.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { type ForeignTree, writeForeignTree } from '../../../../support/submission/foreign-tree.ts';
import { MutableTree } from '../../../../support/submission/mutable-tree.ts';

const RESNET: Omit<ForeignTree, 'root'> = {
  round: 'v4.1',
  division: 'closed',
  model: 'resnet50',
  scenarios: ['Server', 'Offline'],
};
const EDGE: Omit<ForeignTree, 'root'> = {
  ...RESNET,
  systemType: 'edge',
  scenarios: ['SingleStream'],
  records: {
    early_stopping_latency_ms: '9000000',
    result_qps_without_loadgen_overhead: '111.5',
  },
};

/** Ids and files of all findings of a tree after a change. */
async function check(
  tree: Omit<ForeignTree, 'root'>,
  change: (tree: MutableTree) => void = () => {},
): Promise<{ ids: string[]; values: unknown[] }> {
  const root = tempFolder();
  writeForeignTree({ root, ...tree });
  const mutable = new MutableTree(root);
  change(mutable);
  mutable.end();
  const { findings, results } = await checkTree(root, { round: tree.round });
  const ids = [...new Set(findings.map(({ id }) => id))].sort();
  return { ids, values: results.map(({ metric, value }) => [metric, value]) };
}

/** Copies the folders of SingleStream, as the rules have it for inferred results. */
function infer(tree: MutableTree, division: string, scenario: string): void {
  for (const kind of ['results', 'measurements', 'compliance']) {
    const folder = `${division}/ACME/${kind}/acme/resnet50`;
    if (kind === 'compliance' && division === 'open') continue;
    tree.copy(`${folder}/SingleStream`, `${folder}/${scenario}`);
  }
}

function inferBoth(tree: MutableTree): void {
  for (const scenario of ['MultiStream', 'Offline']) infer(tree, 'closed', scenario);
}

it('takes copies of SingleStream as inferred results of an edge system, and tells it', async () => {
  const { ids, values } = await check(EDGE, inferBoth);
  expect(ids).toEqual(['result-inferred']);
  expect(values).toEqual([
    ['early_stopping_latency_ms', 9_000_000],
    ['result_qps_without_loadgen_overhead', 111.5],
    ['early_stopping_latency_ss', 50],
  ]);
});

it.each<[string, Omit<ForeignTree, 'root'>, (tree: MutableTree) => void, string]>([
  [
    'are no copies',
    EDGE,
    (tree) => {
      inferBoth(tree);
      const folder = 'closed/ACME/results/acme/resnet50/Offline';
      tree.record(`${folder}/performance/run_1/mlperf_log_detail.txt`, 'qsl_name', '"other"');
    },
    'scenario-differs',
  ],
  [
    'are of a system of the datacenter suite',
    { ...EDGE, systemType: 'datacenter' },
    inferBoth,
    'scenario-differs',
  ],
  [
    'lack what the result is computed from',
    { ...EDGE, records: { early_stopping_latency_ms: '0' } },
    inferBoth,
    'metric-missing',
  ],
  [
    'are inferred where the rules know no way',
    { ...EDGE, scenarios: ['Offline'] },
    (tree) => {
      for (const kind of ['results', 'measurements', 'compliance']) {
        const folder = `closed/ACME/${kind}/acme/resnet50`;
        tree.copy(`${folder}/Offline`, `${folder}/SingleStream`);
      }
    },
    'scenario-differs',
  ],
])('refuses results of another scenario that %s', async (_, tree, change, expected) => {
  expect((await check(tree, change)).ids).toContain(expected);
});

it('holds open against the latency bound, as the official tools do, and not against the percentile', async () => {
  const records = {
    effective_target_latency_ns: '90000000',
    effective_target_latency_percentile: '0.9',
  };
  const open = { ...RESNET, division: 'open', scenarios: ['Server'], records } as const;
  expect((await check(open)).ids).toEqual(['latency-bound-loose']);
  expect((await check({ ...RESNET, records })).ids).toEqual([
    'latency-bound-loose',
    'percentile-low',
  ]);
});

it.each([
  ['mIoU=71.300%', []],
  ['', ['accuracy-metric-missing']],
  ['no accuracy was measured', ['accuracy-metric-missing']],
])(
  'takes an accuracy of any metric in open, and misses one that is not told: "%s"',
  async (line, expected) => {
    const open = { ...RESNET, division: 'open', scenarios: ['Offline'] } as const;
    const change = (tree: MutableTree): void =>
      tree.edit('open/ACME/results/acme/resnet50/Offline/accuracy/accuracy.txt', (text) =>
        text.replace(/^accuracy=.*/, line),
      );
    expect((await check(open, change)).ids).toEqual(expected);
  },
);

it('asks about a closed result that was measured over a network', async () => {
  const records = { sut_name: '"Network SUT: sut-a"' };
  expect((await check({ ...RESNET, records })).ids).toEqual(['closed-over-network']);
});

it.each<[string, 'v4.1' | 'v5.0', unknown, string[]]>([
  ['"False" in v4.1', 'v4.1', 'False', []],
  ['"True"', 'v4.1', 'True', ['is-network-in-closed']],
  ['the JSON value false', 'v4.1', false, ['is-network-in-closed']],
  ['"False" alone in v5.0', 'v5.0', 'False', ['is-network-in-closed']],
])('reads is_network in closed: %s', async (_, round, value, expected) => {
  const change = (tree: MutableTree): void =>
    tree.json('closed/ACME/systems/acme.json', (system) => {
      system['is_network'] = value;
    });
  expect((await check({ ...RESNET, round }, change)).ids).toEqual(expected);
});

it('takes is_network "False" in closed of v5.0 where the other keys are there as well', async () => {
  const change = (tree: MutableTree): void =>
    tree.json('closed/ACME/systems/acme.json', (system) => {
      for (const { key } of NETWORK_FIELDS) system[key] = 'N/A';
      system['is_network'] = 'False';
    });
  expect((await check({ ...RESNET, round: 'v5.0' }, change)).ids).toEqual([]);
});

it.each([
  // 50 samples/s of 3 x 224 x 224 x 4 bytes are 241 Mbit/s.
  ['one node', '1', '2', '200M', true],
  ['three nodes, a card each', '3', '3', '100M', false],
  ['three nodes, the LoadGen node with one card', '3', '1', '100M', true],
])(
  'divides what passes through the links among the nodes: %s',
  async (_, nodes, cards, rate, isTooSmall) => {
    const { ids } = await check({ ...RESNET, division: 'network' }, (tree) =>
      tree.json('network/ACME/systems/acme.json', (system) => {
        Object.assign(system, {
          number_of_nodes: nodes,
          number_nic_loadgen: cards,
          number_nic_sut: '1',
          network_rate: rate,
        });
      }),
    );
    expect(ids.includes('bandwidth-too-small')).toBe(isTooSmall);
  },
);

/** A result of open under a name of its own. */
function rename(tree: MutableTree, name: string): void {
  for (const kind of ['results', 'measurements']) {
    tree.move(`open/ACME/${kind}/acme/resnet50`, `open/ACME/${kind}/acme/${name}`);
  }
  tree.move('open/ACME/code/resnet50', `open/ACME/code/${name}`);
}

// What the official checkers do with each was seen: "has an invalid model digits" and no result; "model not known".
it.each([
  ['of no model', 'digits', undefined, ['model-unknown']],
  ['of the name of the folder', 'digits', 'resnet50', ['model-mapping-wrong', 'model-unknown']],
  ['of no name of the round', 'digits', 'foo', ['model-mapping-wrong', 'model-unknown']],
  ['of the official name', 'digits', 'resnet', []],
  ['of a name that the tools guess', 'my-resnet50-int4', undefined, []],
])(
  'refuses in open what the official tools refuse: a mapping %s',
  async (_, name, to, expected) => {
    const open = { ...RESNET, division: 'open', scenarios: ['Offline'] } as const;
    const { ids, values } = await check(open, (tree) => {
      rename(tree, name);
      if (to !== undefined)
        tree.write('open/ACME/model_mapping.json', JSON.stringify({ [name]: to }));
    });
    expect(ids).toEqual(expected);
    expect(values).toEqual([['result_samples_per_second', 50]]);
  },
);

it('looks at the length of a run whose model nobody knows', async () => {
  const records = { effective_min_duration_ms: '10000' };
  const open = { ...RESNET, division: 'open', scenarios: ['Offline'], records } as const;
  const { ids } = await check(open, (tree) => rename(tree, 'digits'));
  expect(ids).toEqual(['duration-short', 'model-unknown']);
});
