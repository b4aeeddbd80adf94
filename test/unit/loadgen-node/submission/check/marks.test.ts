/** The two marks, and what is left of them where somebody takes the traces out of a tree. */
import { expect, it } from 'vitest';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { type ForeignTree, writeForeignTree } from '../../../../support/submission/foreign-tree.ts';
import { MutableTree } from '../../../../support/submission/mutable-tree.ts';

const CLOSED: Omit<ForeignTree, 'root'> = {
  round: 'v4.1',
  division: 'closed',
  model: 'resnet50',
  scenarios: ['Server', 'Offline'],
};
const RESULT = 'closed/ACME/results/acme/resnet50/Server';
const OURS = {
  loadgen_version: '"longhaul 0.1.0 (LoadGen 4.1 behaviour)"',
  longhaul_rng_library: '"libstdc++"',
  longhaul_validity: '"VALID"',
};
const MODEL = '{"address": "a:1", "name": "standin", "sha256": "", "is_stand_in": "true"}';

async function idsOf(
  records: Readonly<Record<string, string>>,
  change: (tree: MutableTree) => void = () => {},
): Promise<string[]> {
  const root = tempFolder();
  writeForeignTree({ root, ...CLOSED, records });
  const tree = new MutableTree(root);
  change(tree);
  tree.end();
  const { findings } = await checkTree(root);
  return [...new Set(findings.map(({ id }) => id))].sort();
}

it.each<[string, Readonly<Record<string, string>>, (tree: MutableTree) => void, string[]]>([
  [
    'the record of the model',
    { longhaul_model: MODEL },
    () => {},
    ['not-approved-loadgen', 'stand-in-model'],
  ],
  [
    'the record of the second node',
    {},
    (tree) => {
      const good = MODEL.replace('"true"', '"false"');
      tree.edit(`${RESULT}/performance/run_1/mlperf_log_detail.txt`, (text) =>
        [good, MODEL].reduce((all, value) => all + recordOf('longhaul_model', value), text),
      );
    },
    ['not-approved-loadgen', 'stand-in-model'],
  ],
  [
    'the record of the data set',
    { longhaul_data_set: '{"name": "imagenet-standin"}' },
    () => {},
    ['not-approved-loadgen', 'stand-in-model'],
  ],
  [
    'a note of the log',
    { longhaul_note: '"the data set is a stand-in: drawn images"' },
    () => {},
    ['not-approved-loadgen', 'stand-in-model'],
  ],
  [
    'a note of the summary',
    {},
    (tree) =>
      tree.edit(
        `${RESULT}/performance/run_1/mlperf_log_summary.txt`,
        (text) => `${text}\nPlease note:\n * the data set is a stand-in\n`,
      ),
    ['not-approved-loadgen', 'stand-in-model'],
  ],
  [
    'a note of accuracy.txt',
    {},
    (tree) =>
      tree.edit(`${RESULT}/accuracy/accuracy.txt`, (text) => `note: it is a stand-in\n${text}`),
    ['not-approved-loadgen', 'stand-in-model'],
  ],
])('knows a stand-in by %s alone', async (_, records, change, expected) => {
  const ids = await idsOf({ ...OURS, ...records }, change);
  expect(ids).toEqual(expected);
});

it('knows its own run by what lies in the documentation, and that its records were removed', async () => {
  expect(await idsOf({})).toEqual([]);
  const run = 'closed/ACME/documentation/evidence/acme/resnet50/Server/performance';
  const ids = await idsOf({}, (tree) => tree.write(`${run}/longhaul_run.yaml`, 'run: {}\n'));
  expect(ids).toEqual(['not-approved-loadgen', 'own-records-removed']);
});

it('knows both marks by the README of the result', async () => {
  const readme = 'closed/ACME/measurements/acme/resnet50/Server/README.md';
  const ids = await idsOf({}, (tree) =>
    tree.write(
      readme,
      '# resnet50\n\n> **Measured by longhaul 0.1.0, which is not the approved C++ LoadGen.**\n>\n' +
        '> **Measured with a stand-in model: its weights are not those of the benchmark.**\n',
    ),
  );
  expect(ids).toEqual(['not-approved-loadgen', 'stand-in-model']);
});

it.each(['longhaul_rng_library', 'longhaul_validity'])(
  'tells that %s was taken out of a log of longhaul',
  async (key) => {
    const records = Object.fromEntries(Object.entries(OURS).filter(([one]) => one !== key));
    expect(await idsOf(records)).toEqual(['not-approved-loadgen', 'own-records-removed']);
  },
);

function recordOf(key: string, value: string): string {
  return `:::MLLOG {"key": "${key}", "value": ${value}, "metadata": {"is_error": false}}\n`;
}
