/**
 * Trees of another LoadGen, of other models, rounds and divisions: logs in the words of the C++
 * LoadGen, written from its key list. First the tree without a fault, then what only such trees can
 * break.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import {
  json,
  lengthen,
  move,
  prepend,
  remove,
  replace,
  write,
} from '../../../../scenes/submission-tree/changes.ts';
import {
  checkedTree,
  idsOf,
  submissionTree,
  type TreeOptions,
} from '../../../../scenes/submission-tree/submission-tree.ts';

const OPEN = { division: 'open', scenarios: ['Offline'] } as const;
const UNET = { model: '3d-unet-99', scenarios: ['Offline'] } as const;
const SDXL = { model: 'stable-diffusion-xl' } as const;
const LLAMA = {
  round: 'v6.1',
  division: 'network',
  model: 'llama2-70b-99.9',
  scenarios: ['Offline', 'Interactive'],
} as const;
const UNET_MEASURED = 'closed/ACME/measurements/acme/3d-unet-99/Offline';
const SDXL_SCORE = 'closed/ACME/results/acme/stable-diffusion-xl/Server/accuracy/accuracy.txt';
const LLAMA_RESULTS = 'network/ACME/results/acme/llama2-70b-99.9';

it.each<[string, TreeOptions, string[]]>([
  ['closed, v4.1', {}, []],
  ['network, v4.1', { division: 'network' }, ['network-rules-unproved']],
  ['open, one scenario', OPEN, []],
  [
    'edge suite, closed',
    { scenarios: ['SingleStream', 'MultiStream', 'Offline'], systemType: 'edge' },
    [],
  ],
  ['v5.0', { round: 'v5.0' }, []],
  ['3D U-Net, whole permutations', UNET, []],
  ['Stable Diffusion, pictures', SDXL, []],
  ['Llama 2, the flat layout of v6.1', LLAMA, ['network-rules-unproved']],
])('has nothing to say of a good tree of another LoadGen: %s', async (_, tree, expected) => {
  const { ids, round, results } = await checkedTree(tree);
  expect(ids).toEqual(expected);
  expect(round).toBe(tree.round ?? 'v4.1');
  expect(results.map(({ value }) => value)).toEqual(
    (tree.scenarios ?? ['Server', 'Offline']).map(() => 50),
  );
});

it.each<[string, TreeOptions, Record<string, string>, string]>([
  ['no token latencies', LLAMA, { requested_use_token_latencies: 'false' }, 'token-latencies-off'],
  [
    'a first token at the bound',
    LLAMA,
    { 'result_first_token_99.00_percentile_latency_ns': '450000000' },
    'token-latency-above-bound',
  ],
  [
    'samples that are not issued equally',
    UNET,
    { effective_sample_concatenate_permutation: 'false' },
    'equal-issue-off',
  ],
  ['a LoadGen of no tag', {}, { loadgen_version: '"master"' }, 'loadgen-not-known'],
  ['no version', {}, { loadgen_version: '""' }, 'loadgen-not-known'],
  ['no files of the build', {}, { loadgen_file_sha1: '{}' }, 'loadgen-not-known'],
  ['no date of the build', {}, { loadgen_build_date_local: '"NA"' }, 'loadgen-not-known'],
  [
    'a LoadGen with changes',
    {},
    { loadgen_git_status_message: '" M loadgen.cc"' },
    'loadgen-not-known',
  ],
])('finds in the logs of another LoadGen: %s', async (_, tree, records, expected) => {
  const { ids } = await checkedTree({ ...tree, records });
  expect(ids.filter((id) => id !== 'network-rules-unproved')).toEqual([expected]);
});

it.each<[string, TreeOptions, string[]]>([
  [
    'no calibration.md in v6.1',
    { ...LLAMA, changes: [remove('network/ACME/calibration.md')] },
    ['calibration-missing', 'network-rules-unproved'],
  ],
  [
    'a line that the checker of v4.1 breaks off at',
    {
      ...UNET,
      changes: [
        prepend(`${UNET_MEASURED}/user.conf`, '*.Offline.min_duration = 600000 # = 10 minutes\n'),
      ],
    },
    ['conf-not-for-loadgen', 'conf-unreadable'],
  ],
  [
    'no permutations in the configuration of v4.1',
    { ...UNET, changes: [replace(`${UNET_MEASURED}/mlperf.conf`, '= 1', '= 0')] },
    ['equal-issue-off'],
  ],
  [
    'a picture is missing',
    { ...SDXL, changes: [remove(SDXL_SCORE.replace('accuracy.txt', 'images/109.png'))] },
    ['accuracy-file-missing'],
  ],
  [
    'a CLIP score above its limit',
    {
      ...SDXL,
      changes: [replace(SDXL_SCORE, /'CLIP_SCORE': [\d.]+/, "'CLIP_SCORE': 31.81331802")],
    },
    ['accuracy-above-limit'],
  ],
  [
    'figures of NumPy 2',
    {
      ...SDXL,
      changes: [replace(SDXL_SCORE, /'CLIP_SCORE': ([\d.]+)/, "'CLIP_SCORE': np.float64($1)")],
    },
    ['accuracy-metric-missing'],
  ],
  [
    'no EOS line in TEST06',
    {
      ...LLAMA,
      changes: [
        replace(
          `${LLAMA_RESULTS}/Offline/TEST06/verify_accuracy.txt`,
          'EOS check pass: True\n',
          '',
        ),
      ],
    },
    ['network-rules-unproved', 'test-not-passed'],
  ],
  [
    'neither Server nor Interactive',
    { ...LLAMA, changes: [remove(`${LLAMA_RESULTS}/Interactive`)] },
    ['network-rules-unproved', 'scenario-missing'],
  ],
  [
    'a power measurement',
    {
      changes: [
        write('closed/ACME/results/acme/resnet50/Server/performance/power/client.json', '{}'),
      ],
    },
    ['power-unchecked'],
  ],
])('finds in a tree of another LoadGen: %s', async (_, tree, expected) => {
  expect((await checkedTree(tree)).ids).toEqual(expected);
});

it('takes an accuracy below the target in open, and models of its own by their mapping', async () => {
  const { findings, results } = await checkedTree({
    ...OPEN,
    changes: [
      replace(
        'open/ACME/results/acme/resnet50/Offline/accuracy/accuracy.txt',
        /^accuracy=.*/,
        'accuracy=12.000%, good=6000, total=50000',
      ),
      ...['results/acme', 'measurements/acme', 'code'].map((kind) =>
        move(`open/ACME/${kind}/resnet50`, `open/ACME/${kind}/my-net`),
      ),
      write('open/ACME/model_mapping.json', '{"my-net": "resnet"}'),
    ],
  });
  expect(findings).toEqual([]);
  expect(results[0]?.metric).toBe('result_samples_per_second');
});

it('refuses a tree of several rounds and names them', async () => {
  const root = submissionTree();
  submissionTree({ root, ...OPEN, round: 'v5.0' });
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
  submissionTree({ root });
  await expect(checkTree(join(root, 'closed'))).rejects.toMatchObject({
    code: 'ERR_CONFIG_FILE',
    message: expect.stringMatching(/you named a division: name its parent/),
  });
});

it('says of divisions without submitters that they have no results', async () => {
  const root = tempFolder();
  mkdirSync(join(root, 'open'));
  expect(idsOf((await checkTree(root)).findings)).toContain('no-results');
});

it('streams a log that is too large, and does not read documents of gigabytes', async () => {
  const result = 'closed/ACME/results/acme/resnet50/Server';
  const documents = [
    'closed/ACME/systems/acme.json',
    `${result}/accuracy/accuracy.txt`,
    'closed/ACME/measurements/acme/resnet50/Server/README.md',
    'closed/ACME/compliance/acme/resnet50/Server/TEST04/verify_performance.txt',
  ];
  // Sparse: they take no room on the disk.
  const { findings } = await checkedTree({
    changes: [
      lengthen(`${result}/performance/run_1/mlperf_log_detail.txt`, 2 ** 26),
      ...documents.map((path) => lengthen(path, 2 ** 32)),
    ],
  });
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
  const text = JSON.stringify(value);
  const { findings } = await checkedTree(
    {
      ...LLAMA,
      records: Object.fromEntries(RECORD_KEYS.map((key) => [key, text])),
      changes: [
        json('network/ACME/systems/acme.json', (system) => {
          for (const key of Object.keys(system)) system[key] = value;
        }),
        ...['measurements.json', 'accuracy/mlperf_log_accuracy.json', 'accuracy/accuracy.txt'].map(
          (name) => write(`${LLAMA_RESULTS}/Offline/${name}`, text),
        ),
      ],
    },
    { round: 'v6.1' },
  );
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
  const root = submissionTree();
  const path = 'closed/ACME/results/acme/resnet50/Server/performance/run_1/pipe';
  execFileSync('mkfifo', [join(root, path)]);
  const { findings } = await checkTree(root);
  expect(findings.map(({ id, file }) => [id, file])).toEqual([['no-plain-file', path]]);
});
