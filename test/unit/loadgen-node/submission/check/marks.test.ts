/** The two marks, and what is left of them where somebody takes the traces out of a tree. */
import { expect, it } from 'vitest';
import { append, type Change, prepend, write } from '../../../../scenes/submission-tree/changes.ts';
import { checkedTree } from '../../../../scenes/submission-tree/submission-tree.ts';

const RESULT = 'closed/ACME/results/acme/resnet50/Server';
const OURS = {
  loadgen_version: '"longhaul 0.1.0 (LoadGen 4.1 behaviour)"',
  longhaul_rng_library: '"libstdc++"',
  longhaul_validity: '"VALID"',
};
const MODEL = '{"address": "a:1", "name": "standin", "sha256": "", "is_stand_in": "true"}';

const idsOf = async (
  records: Readonly<Record<string, string>>,
  ...changes: readonly Change[]
): Promise<readonly string[]> => (await checkedTree({ records, changes })).ids;

it.each<[string, Readonly<Record<string, string>>, ...Change[]]>([
  ['the record of the model', { longhaul_model: MODEL }],
  [
    'the record of the second node',
    {},
    append(
      `${RESULT}/performance/run_1/mlperf_log_detail.txt`,
      [MODEL.replace('"true"', '"false"'), MODEL]
        .map(
          (model) =>
            `:::MLLOG {"key": "longhaul_model", "value": ${model}, "metadata": {"is_error": false}}\n`,
        )
        .join(''),
    ),
  ],
  ['the record of the data set', { longhaul_data_set: '{"name": "imagenet-standin"}' }],
  ['a note of the log', { longhaul_note: '"the data set is a stand-in: drawn images"' }],
  [
    'a note of the summary',
    {},
    append(
      `${RESULT}/performance/run_1/mlperf_log_summary.txt`,
      '\nPlease note:\n * the data set is a stand-in\n',
    ),
  ],
  [
    'a note of accuracy.txt',
    {},
    prepend(`${RESULT}/accuracy/accuracy.txt`, 'note: it is a stand-in\n'),
  ],
])('knows a stand-in by %s alone', async (_, records, ...changes) => {
  const ids = await idsOf({ ...OURS, ...records }, ...changes);
  expect(ids).toEqual(['not-approved-loadgen', 'stand-in-model']);
});

it('knows its own run by what lies in the documentation, and that its records were removed', async () => {
  expect(await idsOf({})).toEqual([]);
  const run = 'closed/ACME/documentation/evidence/acme/resnet50/Server/performance';
  const ids = await idsOf({}, write(`${run}/longhaul_run.yaml`, 'run: {}\n'));
  expect(ids).toEqual(['not-approved-loadgen', 'own-records-removed']);
});

it('knows both marks by the README of the result', async () => {
  const readme = 'closed/ACME/measurements/acme/resnet50/Server/README.md';
  const ids = await idsOf(
    {},
    write(
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
