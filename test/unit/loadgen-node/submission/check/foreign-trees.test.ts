/**
 * Trees of another LoadGen, of other models, rounds and divisions: logs in the words of the C++ LoadGen, written from its
 * key list. First the tree without a fault, then what only such trees can break.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { type ForeignTree, writeForeignTree } from '../../../../support/submission/foreign-tree.ts';
import { MutableTree } from '../../../../support/submission/mutable-tree.ts';

type Tree = Omit<ForeignTree, 'root'>;

const RESNET: Tree = {
  round: 'v4.1',
  division: 'closed',
  model: 'resnet50',
  scenarios: ['Server', 'Offline'],
};
const UNET: Tree = { ...RESNET, model: '3d-unet-99', scenarios: ['Offline'] };
const SDXL: Tree = { ...RESNET, model: 'stable-diffusion-xl' };
const LLAMA: Tree = {
  round: 'v6.1',
  division: 'network',
  model: 'llama2-70b-99.9',
  scenarios: ['Offline', 'Interactive'],
};

async function idsOf(root: string): Promise<string[]> {
  const { findings } = await checkTree(root);
  return [...new Set(findings.map(({ id }) => id))].sort();
}

it.each<[string, Tree, string[]]>([
  ['closed, v4.1', RESNET, []],
  ['network, v4.1', { ...RESNET, division: 'network' }, ['network-rules-unproved']],
  ['open, one scenario', { ...RESNET, division: 'open', scenarios: ['Offline'] }, []],
  [
    'edge suite, closed',
    {
      ...RESNET,
      scenarios: ['SingleStream', 'MultiStream', 'Offline'],
      systemType: 'edge',
    },
    [],
  ],
  ['v5.0', { ...RESNET, round: 'v5.0' }, []],
  ['3D U-Net, whole permutations', UNET, []],
  ['Stable Diffusion, pictures', SDXL, []],
  ['Llama 2, the flat layout of v6.1', LLAMA, ['network-rules-unproved']],
])('has nothing to say of a good tree of another LoadGen: %s', async (_, tree, expected) => {
  const root = tempFolder();
  writeForeignTree({ root, ...tree });
  expect(await idsOf(root)).toEqual(expected);
  const report = await checkTree(root);
  expect(report.round).toBe(tree.round);
  expect(report.results.map(({ value }) => value)).toEqual(tree.scenarios.map(() => 50));
});

it.each<[string, Tree, Record<string, string>, string[]]>([
  [
    'no token latencies',
    LLAMA,
    { requested_use_token_latencies: 'false' },
    ['token-latencies-off'],
  ],
  [
    'a first token at the bound',
    LLAMA,
    { 'result_first_token_99.00_percentile_latency_ns': '450000000' },
    ['token-latency-above-bound'],
  ],
  [
    'samples that are not issued equally',
    UNET,
    { effective_sample_concatenate_permutation: 'false' },
    ['equal-issue-off'],
  ],
  ['a LoadGen of no tag', RESNET, { loadgen_version: '"master"' }, ['loadgen-not-known']],
  ['no version', RESNET, { loadgen_version: '""' }, ['loadgen-not-known']],
  ['no files of the build', RESNET, { loadgen_file_sha1: '{}' }, ['loadgen-not-known']],
  ['no date of the build', RESNET, { loadgen_build_date_local: '"NA"' }, ['loadgen-not-known']],
  [
    'a LoadGen with changes',
    RESNET,
    { loadgen_git_status_message: '" M loadgen.cc"' },
    ['loadgen-not-known'],
  ],
])('finds in the logs of another LoadGen: %s', async (_, tree, records, expected) => {
  const root = tempFolder();
  writeForeignTree({ root, ...tree, records });
  expect((await idsOf(root)).filter((id) => id !== 'network-rules-unproved')).toEqual(expected);
});

it.each<[string, Tree, (tree: MutableTree) => void, string[]]>([
  [
    'no calibration.md in v6.1',
    LLAMA,
    (tree) => tree.remove('network/ACME/calibration.md'),
    ['calibration-missing', 'network-rules-unproved'],
  ],
  [
    'a line that the checker of v4.1 breaks off at',
    UNET,
    (tree) =>
      tree.edit(
        'closed/ACME/measurements/acme/3d-unet-99/Offline/user.conf',
        (text) => `*.Offline.min_duration = 600000 # = 10 minutes\n${text}`,
      ),
    ['conf-not-for-loadgen', 'conf-unreadable'],
  ],
  [
    'no permutations in the configuration of v4.1',
    UNET,
    (tree) =>
      tree.edit('closed/ACME/measurements/acme/3d-unet-99/Offline/mlperf.conf', (text) =>
        text.replace('= 1', '= 0'),
      ),
    ['equal-issue-off'],
  ],
  [
    'a picture is missing',
    SDXL,
    (tree) =>
      tree.remove('closed/ACME/results/acme/stable-diffusion-xl/Server/accuracy/images/109.png'),
    ['accuracy-file-missing'],
  ],
  [
    'a CLIP score above its limit',
    SDXL,
    (tree) =>
      tree.edit(
        'closed/ACME/results/acme/stable-diffusion-xl/Server/accuracy/accuracy.txt',
        (text) => text.replace(/'CLIP_SCORE': [\d.]+/, "'CLIP_SCORE': 31.81331802"),
      ),
    ['accuracy-above-limit'],
  ],
  [
    'figures of NumPy 2',
    SDXL,
    (tree) =>
      tree.edit(
        'closed/ACME/results/acme/stable-diffusion-xl/Server/accuracy/accuracy.txt',
        (text) => text.replace(/'CLIP_SCORE': ([\d.]+)/, "'CLIP_SCORE': np.float64($1)"),
      ),
    ['accuracy-metric-missing'],
  ],
  [
    'no EOS line in TEST06',
    LLAMA,
    (tree) =>
      tree.edit(
        'network/ACME/results/acme/llama2-70b-99.9/Offline/TEST06/verify_accuracy.txt',
        (text) => text.replace('EOS check pass: True\n', ''),
      ),
    ['network-rules-unproved', 'test-not-passed'],
  ],
  [
    'neither Server nor Interactive',
    LLAMA,
    (tree) => tree.remove('network/ACME/results/acme/llama2-70b-99.9/Interactive'),
    ['network-rules-unproved', 'scenario-missing'],
  ],
  [
    'a power measurement',
    RESNET,
    (tree) =>
      tree.write('closed/ACME/results/acme/resnet50/Server/performance/power/client.json', '{}'),
    ['power-unchecked'],
  ],
])('finds in a tree of another LoadGen: %s', async (_, tree, change, expected) => {
  const root = tempFolder();
  writeForeignTree({ root, ...tree });
  const mutable = new MutableTree(root);
  change(mutable);
  mutable.end();
  expect(await idsOf(root)).toEqual(expected);
});

it('takes an accuracy below the target in open, and models of its own by their mapping', async () => {
  const root = tempFolder();
  writeForeignTree({ root, ...RESNET, division: 'open', scenarios: ['Offline'] });
  const tree = new MutableTree(root);
  const model = 'open/ACME/results/acme';
  tree.edit(`${model}/resnet50/Offline/accuracy/accuracy.txt`, (text) =>
    text.replace(/^accuracy=.*/, 'accuracy=12.000%, good=6000, total=50000'),
  );
  for (const kind of ['results', 'measurements']) {
    tree.move(`open/ACME/${kind}/acme/resnet50`, `open/ACME/${kind}/acme/my-net`);
  }
  tree.move('open/ACME/code/resnet50', 'open/ACME/code/my-net');
  tree.write('open/ACME/model_mapping.json', '{"my-net": "resnet"}');
  tree.end();
  const report = await checkTree(root);
  expect(report.findings).toEqual([]);
  expect(report.results[0]?.metric).toBe('result_samples_per_second');
});

it('refuses a tree of several rounds and names them', async () => {
  const root = tempFolder();
  writeForeignTree({ root, ...RESNET });
  writeForeignTree({ root, ...RESNET, division: 'open', round: 'v5.0', scenarios: ['Offline'] });
  await expect(checkTree(root)).rejects.toMatchObject({
    code: 'ERR_CONFIG_INVALID',
    message: expect.stringMatching(/several rounds: v4\.1 \(closed\/.*v5\.0 \(open\//),
  });
  // Said, the round is no question; the other one's seeds are wrong then.
  const report = await checkTree(root, { round: 'v4.1' });
  expect(report.findings.map(({ id }) => id)).toContain('seed-wrong');
});

it.each([
  ['nothing', (root: string) => rmSync(root, { recursive: true }), 'cannot read'],
  [
    'a file',
    (root: string) => {
      rmSync(root, { recursive: true });
      writeFileSync(root, 'text');
    },
    'no folder',
  ],
])('refuses %s in the place of a tree', async (_, change, text) => {
  const root = join(tempFolder(), 'tree');
  mkdirSync(root);
  change(root);
  await expect(checkTree(root)).rejects.toMatchObject({
    code: 'ERR_CONFIG_FILE',
    message: expect.stringContaining(text),
  });
});

it('refuses a folder without divisions, and says who named one of them', async () => {
  const root = tempFolder();
  await expect(checkTree(root)).rejects.toMatchObject({
    code: 'ERR_CONFIG_FILE',
    message: expect.stringMatching(/is no submission tree: it has no closed\/, network\/, open\/$/),
  });
  writeForeignTree({ root, ...RESNET });
  await expect(checkTree(join(root, 'closed'))).rejects.toMatchObject({
    code: 'ERR_CONFIG_FILE',
    message: expect.stringMatching(/you named a division: name its parent/),
  });
});

it('says of divisions without submitters that they have no results', async () => {
  const root = tempFolder();
  mkdirSync(join(root, 'open'));
  expect(await idsOf(root)).toContain('no-results');
});

it('streams a log that is too large, and does not read documents of gigabytes', async () => {
  const root = tempFolder();
  writeForeignTree({ root, ...RESNET });
  const tree = new MutableTree(root);
  const result = 'closed/ACME/results/acme/resnet50/Server';
  // Sparse: they take no room on the disk.
  tree.lengthen(`${result}/performance/run_1/mlperf_log_detail.txt`, 2 ** 26);
  const documents = [
    'closed/ACME/systems/acme.json',
    `${result}/accuracy/accuracy.txt`,
    'closed/ACME/measurements/acme/resnet50/Server/README.md',
    'closed/ACME/compliance/acme/resnet50/Server/TEST04/verify_performance.txt',
  ];
  for (const path of documents) tree.lengthen(path, 2 ** 32);
  const { findings } = await checkTree(root);
  tree.end();
  const unread = findings.filter(({ id }) => id === 'no-plain-file').map(({ file }) => file);
  expect(new Set(unread)).toEqual(new Set(documents));
  expect(findings.filter(({ id }) => id === 'file-too-large')).toHaveLength(5);
});

it.each([
  ['null', null],
  ['a number', 7],
  ['a list', ['a', 1]],
  ['an object', { a: 1 }],
  ['a name of every object', 'constructor'],
])('takes %s in the place of every value', async (_, value) => {
  const root = tempFolder();
  const records = Object.fromEntries(RECORD_KEYS.map((key) => [key, JSON.stringify(value)]));
  writeForeignTree({ root, ...LLAMA, records });
  const tree = new MutableTree(root);
  tree.json('network/ACME/systems/acme.json', (system) => {
    for (const key of Object.keys(system)) system[key] = value;
  });
  const folder = 'network/ACME/results/acme/llama2-70b-99.9/Offline';
  tree.write(`${folder}/measurements.json`, JSON.stringify(value));
  tree.write(`${folder}/accuracy/mlperf_log_accuracy.json`, JSON.stringify(value));
  tree.write(`${folder}/accuracy/accuracy.txt`, JSON.stringify(value));
  tree.end();
  const { findings } = await checkTree(root, { round: 'v6.1' });
  const ids = findings.map(({ id }) => id);
  const wrong = ids.filter((id) => id === 'json-broken' || id === 'measurements-field-missing');
  expect(wrong.length).toBeGreaterThan(0);
  expect(ids).toEqual(expect.arrayContaining(['accuracy-log-damaged', 'hash-missing']));
  expect(findings.filter(({ seen }) => seen.length > 700)).toEqual([]);
});

const RECORD_KEYS = [
  'loadgen_version',
  'sut_name',
  'effective_scenario',
  'effective_test_mode',
  'effective_qsl_rng_seed',
  'effective_min_duration_ms',
  'effective_target_latency_ns',
  'early_stopping_met',
  'result_validity',
  'longhaul_model',
  'longhaul_data_set',
  'longhaul_performance_issued_samples',
];

it('tells files that cannot be read, and checks the others', async () => {
  const root = tempFolder();
  writeForeignTree({ root, ...RESNET });
  const path = 'closed/ACME/results/acme/resnet50/Server/performance/run_1/pipe';
  execFileSync('mkfifo', [join(root, path)]);
  const { findings } = await checkTree(root);
  expect(findings.map(({ id, file }) => [id, file])).toEqual([['no-plain-file', path]]);
});
