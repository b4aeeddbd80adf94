import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { BuiltTree } from '../../../../../loadgen-node/submission/assemble/build-submission.ts';
import { filesOf, suiteFolder, tempFolder, textOf } from '../../../../scenes/host/folders.ts';
import {
  prepareScene,
  type Scene,
  type SceneChange,
} from '../../../../scenes/submission-tree/built-tree.ts';
import { filledDescription } from '../../../../scenes/submission-tree/submission-tree.ts';
import {
  WRONG_DESCRIPTIONS,
  WRONG_SUBMISSIONS,
} from '../../../../scenes/submission-tree/wrong-submissions.ts';

/*
 * Goal: submission build makes the tree that the official tools want from good runs, and refuses
 * everything else without leaving a file. Method: one set of simulated runs of full length, made
 * once; each case changes the configuration.
 */

let scene: Scene;
/** A tree that nobody changes. */
let tree: string;
let built: BuiltTree;

beforeAll(async () => {
  scene = await prepareScene({ folder: suiteFolder() });
  for (const scenario of ['Server', 'Offline']) {
    // Nothing here reads the answers, or which samples were loaded: a build copies them, however
    // many there are.
    const folder = join(scene.folder, 'runs', scenario, 'accuracy');
    writeFileSync(join(folder, 'mlperf_log_accuracy.json'), '[\n]\n');
    const log = join(folder, 'mlperf_log_detail.txt');
    const lines = readFileSync(log, 'utf8').split('\n');
    writeFileSync(log, lines.filter((line) => !line.includes('loaded_qsl_set')).join('\n'));
  }
  tree = join(suiteFolder(), 'tree');
  built = await scene.build(undefined, { tree });
});

// biome-ignore lint/suspicious/noExplicitAny: tests look at single members.
const jsonOf = (folder: string, path: string): any => JSON.parse(textOf(folder, path));

/** Problems that a build reports, in paths relative to the scene; nothing was written. */
async function refusal(change: SceneChange, isDryRun = false): Promise<string> {
  const folder = tempFolder();
  const error = await scene.build(change, { isDryRun, tree: join(folder, 'tree') }).then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  expect(readdirSync(folder)).toEqual([]);
  return (error?.message ?? 'nothing').replaceAll(`${scene.folder}/`, '');
}

/** Results of one division, with other values of the first. */
const only =
  (division: string, first: object = {}): SceneChange =>
  ({ results }) => {
    for (const result of results) result.divisions = [division];
    Object.assign(results[0], first);
  };

/** The division with the fewest files. */
const openOnly = only('open');

it('builds network, closed and open of v4.1 with the files that the official tools want', () => {
  const { warnings, fileCount } = built;
  expect(warnings).toEqual([]);
  const files = filesOf(tree);
  for (const entry of readdirSync(tree, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) expect(readdirSync(path), path).not.toEqual([]);
    else expect(entry.isFile(), path).toBe(true);
  }
  // And the text of the self-check in each division.
  expect(files).toHaveLength(fileCount + 3);
  const filesIn = (folder: string): string[] => filesOf(join(tree, folder));
  expect(filesIn('network/ACME/results/acme-2n/resnet50')).toEqual(
    ['Offline', 'Server'].flatMap((scenario) =>
      [
        'accuracy/accuracy.txt',
        'accuracy/mlperf_log_accuracy.json',
        'accuracy/mlperf_log_detail.txt',
        'accuracy/mlperf_log_summary.txt',
        'performance/run_1/mlperf_log_detail.txt',
        'performance/run_1/mlperf_log_summary.txt',
      ].map((file) => `${scenario}/${file}`),
    ),
  );
  const measured = 'closed/ACME/measurements/acme-2n/resnet50/Server';
  expect(filesIn(measured)).toEqual([
    'README.md',
    'acme-2n_longhaul_Server.json',
    'calibration_process.adoc',
    'mlperf.conf',
    'user.conf',
  ]);
  expect(filesIn('closed/ACME/compliance/acme-2n/resnet50/Offline/TEST01')).toEqual([
    'accuracy/accuracy.txt',
    'accuracy/mlperf_log_accuracy.json',
    'performance/run_1/mlperf_log_detail.txt',
    'performance/run_1/mlperf_log_summary.txt',
    'verify_accuracy.txt',
    'verify_performance.txt',
  ]);
  expect(existsSync(join(tree, 'open/ACME/compliance'))).toBe(false);
  for (const file of files) {
    expect(file).not.toMatch(/(^|\/)\.|\s/);
    expect(statSync(join(tree, file)).size).toBeGreaterThan(0);
  }
  expect(readdirSync(tree).sort()).toEqual(['LONGHAUL.md', 'closed', 'network', 'open']);
  expect(jsonOf(tree, `${measured}/acme-2n_longhaul_Server.json`)).toEqual({
    input_data_types: 'uint8',
    retraining: 'No',
    starting_weights_filename: 'resnet50_v1.onnx',
    weight_data_types: 'fp32',
    weight_transformations: 'none',
  });
});

it('gives each division its system description, with is_network as a text where it belongs', () => {
  const network = jsonOf(tree, 'network/ACME/systems/acme-2n.json');
  expect([network.division, network.is_network, network.nic_sut]).toEqual([
    'network',
    'True',
    'NVIDIA CX6',
  ]);
  const closed = jsonOf(tree, 'closed/ACME/systems/acme-2n.json');
  expect([closed.division, closed.is_network, closed.nic_sut]).toEqual([
    'closed',
    undefined,
    undefined,
  ]);
  expect(closed.framework).toBe('ONNX Runtime 1.30.0');
  const open = jsonOf(tree, 'open/ACME/systems/acme-2n.json');
  expect([open.division, open.is_network, open.number_nic_sut]).toEqual(['open', 'True', '1']);
});

it('writes how the runs are made again, what they gave, and that the engine is not the approved one', () => {
  const readme = textOf(tree, 'network/ACME/measurements/acme-2n/resnet50/Server/README.md');
  expect(readme).toContain('--target-qps 20 \\\n  --round v4.1 \\\n  --output PERFORMANCE');
  expect(readme).toContain('--mode accuracy');
  expect(readme).toMatch(
    /Completed samples per second \(the metric of Server: what the official checkers read\) \| \d+\.\d+ samples.*\n\| Scheduled samples per second \| 20\.\d{3} samples/,
  );
  expect(readme).toContain('accuracy=76.500%, good=38250, total=50000');
  expect(readme).toContain('No batching');
  expect(readme).toContain('not the approved C++ LoadGen');
  const conf = textOf(tree, 'network/ACME/measurements/acme-2n/resnet50/Server/user.conf');
  expect(conf.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    '*.Server.target_qps = 20',
    '*.Server.target_latency = 15',
    '*.Server.target_latency_percentile = 99',
    '*.Server.min_duration = 600000',
    '*.Server.min_query_count = 100',
    '*.Server.performance_sample_count_override = 1024',
  ]);
  // In the place of a line of mlperf.conf that says as many.
  expect(textOf(tree, 'network/ACME/measurements/acme-2n/resnet50/Offline/user.conf')).toContain(
    '*.Offline.min_query_count = 24576\n',
  );
  const script = textOf(tree, 'network/ACME/code/resnet50/longhaul/run.sh');
  expect(script.match(/longhaul run/g)).toHaveLength(4);
});

it('documents wire, QDL, network, bandwidth, software and evidence', () => {
  const documents = 'network/ACME/documentation';
  expect(textOf(tree, `${documents}/network.md`)).toContain('What a query is on the wire');
  // Nothing that only a clone of longhaul has.
  const DEVELOPERS = /\]\(\.\.\/docs|docs\/|npm run|CI fails|gen\/|descriptor|apt-get/;
  expect(textOf(tree, `${documents}/network.md`)).not.toMatch(DEVELOPERS);
  expect(existsSync(join(tree, 'network/ACME/code/longhaul/proto/README.md'))).toBe(false);
  expect(existsSync(join(tree, 'closed/ACME/documentation/network.md'))).toBe(false);
  expect(textOf(tree, 'network/ACME/code/longhaul/proto/mlperf/network/v1/sut.proto')).toContain(
    'service',
  );
  expect(textOf(tree, 'network/ACME/code/longhaul/SHA256SUMS.txt')).toMatch(
    /^[0-9a-f]{64} {2}qdl\//,
  );
  const bandwidth = textOf(tree, `${documents}/acme-2n/bandwidth.md`);
  // 110,003 bytes per sample were counted; Offline ran at 50 samples per second.
  expect(bandwidth).toContain('| 110003 bytes per sample (');
  expect(bandwidth).toContain('| **Required into the SUT** | 44 Mbit/s |');
  expect(bandwidth).toContain(
    '| loadgen | into the SUT | 100 % | 44 Mbit/s | 25 Gbit/s | 568 times |',
  );
  expect(bandwidth).toContain('the model runs on the host');
  const software = textOf(tree, `${documents}/acme-2n/software.md`);
  expect(software).toContain('| onnxruntime | 1.30.0 | binary that can be had |');
  expect(software).toContain('`43520951cdd04edf2dd99488b8a141bfbdfde15153e7163190b6786c55107626`');
  expect(textOf(tree, `${documents}/acme-2n/system_diagram.svg`)).toContain(
    'Switch of the test, 32 x 100G',
  );
  expect(textOf(tree, `${documents}/calibration.md`)).toContain('no quantization');
  expect(
    existsSync(join(tree, documents, 'evidence/acme-2n/resnet50/Server/TEST04/network_audit.json')),
  ).toBe(true);
  expect(
    jsonOf(tree, `${documents}/evidence/acme-2n/resnet50/Server/performance/network_audit.json`).run
      .scenario,
  ).toBe('Server');
});

it('takes the evidence of a test from the folder that is named, and misses it where there is none', async () => {
  const from = join(scene.folder, 'runs/Server/compliance');
  cpSync(join(from, 'TEST04'), join(scene.folder, 'moved/TEST04'), { recursive: true });
  const change = (compliance_runs?: object): SceneChange => {
    const [TEST01, TEST05] = [`${from}/TEST01`, `${from}/TEST05`];
    return only('network', {
      compliance: { TEST01, TEST04: 'moved/TEST04', TEST05 },
      compliance_runs,
    });
  };
  const { warnings } = await scene.build(change());
  expect(warnings.map((text) => text.replace(/^\S+ /, ''))).toEqual([
    'the run of TEST04 has no network_audit.json: name its folder in "compliance_runs"',
  ]);
  const named = await scene.build(change({ TEST04: `${from}/TEST04-run` }));
  expect(named.warnings).toEqual([]);
});

it("warns of a test that longhaul's own checks failed, where the official files say PASS", async () => {
  const own = join(scene.folder, 'own');
  cpSync(join(scene.folder, 'runs/Server/compliance'), own, { recursive: true });
  writeFileSync(join(own, 'TEST04/README.md'), '# TEST04: failed\n\nA cache.\n');
  const { warnings } = await scene.build(only('network', { compliance: 'own' }));
  expect(warnings.filter((text) => text.includes("TEST04 failed by longhaul's own"))).toEqual([
    expect.stringMatching(/own\/TEST04\/README\.md tells which$/),
  ]);
});

it('refuses tests that were not passed, and TEST01 that needs its fallback without it', async () => {
  const failed = join(scene.folder, 'failed');
  cpSync(join(scene.folder, 'runs/Server/compliance'), failed, { recursive: true });
  writeFileSync(join(failed, 'TEST04/verify_performance.txt'), 'TEST FAIL\n');
  writeFileSync(join(failed, 'TEST01/verify_accuracy.txt'), 'TEST FAIL\n');
  const text = await refusal(({ results }) => {
    results[0].compliance = 'failed';
  });
  expect(text).toMatch(/: failed\/TEST04\/verify_performance\.txt: It ends "TEST FAIL"\./);
  expect(text).toMatch(/baseline_accuracy\.txt: verify_accuracy\.txt has no TEST PASS\./);
  for (const name of ['baseline_accuracy.txt', 'compliance_accuracy.txt']) {
    writeFileSync(join(failed, 'TEST01/accuracy', name), 'accuracy=76.500%\n');
  }
  const { tree } = await scene.build(only('closed', { compliance: 'failed' }), { isDryRun: true });
  const accuracy = 'closed/ACME/compliance/acme-2n/resnet50/Server/TEST01/accuracy';
  expect(readdirSync(join(tree, accuracy))).toHaveLength(4);
});

it('takes runs of another LoadGen, and says what the network division misses', async () => {
  for (const scenario of ['Server', 'Offline']) {
    for (const kind of ['performance', 'accuracy']) {
      const run = join(scenario, kind);
      // No more than its logs, and the text of the accuracy script.
      cpSync(join(scene.folder, 'runs', run), join(scene.folder, 'foreign', run), {
        recursive: true,
        filter: (path) => !/longhaul_run|network_audit/.test(path),
      });
    }
  }
  const { tree, warnings } = await scene.build(({ results }) => {
    for (const result of results) {
      result.divisions = ['network'];
      result.performance = `foreign/${result.scenario}/performance`;
      result.accuracy = `foreign/${result.scenario}/accuracy`;
      result.batching = 'Samples that wait together are one batch.';
    }
  });
  expect(warnings.map((text) => text.replace(/^\S+ /, '').replaceAll(scene.folder, ''))).toEqual(
    ['Server', 'Offline'].map(
      (scenario) =>
        `/foreign/${scenario}/performance has no network_audit.json to show that the rules of the network division were kept`,
    ),
  );
  const readme = textOf(tree, 'network/ACME/measurements/acme-2n/resnet50/Server/README.md');
  expect(readme).toContain('| effective_target_qps | 20 |');
  expect(readme).toContain('Samples that wait together are one batch.');
  expect(
    filesOf(tree).filter((file) => file.includes('/evidence/') && file.includes('/performance/')),
  ).toEqual([]);
});

it('keeps the user.conf that the submitter names, and copies code without what cannot be in a tree', async () => {
  const code = join(scene.folder, 'code');
  mkdirSync(join(code, 'node_modules', 'x'), { recursive: true });
  mkdirSync(join(code, 'empty'));
  writeFileSync(join(code, 'node_modules', 'x', 'a.js'), 'x');
  writeFileSync(join(code, '.hidden'), 'x');
  writeFileSync(join(code, 'main.ts'), 'code\n');
  symlinkSync(join(code, 'main.ts'), join(code, 'link.ts'));
  const conf = '*.Server.target_qps = 20\n*.Server.target_latency = 15 # a = b\n';
  writeFileSync(join(scene.folder, 'user.conf'), conf);
  const { tree, warnings } = await scene.build((submission) => {
    openOnly(submission);
    const { results, implementations } = submission;
    results[0].user_conf = 'user.conf';
    implementations.longhaul.code = ['code'];
  });
  expect(textOf(tree, 'open/ACME/measurements/acme-2n/resnet50/Server/user.conf')).toBe(conf);
  const files = filesOf(join(tree, 'open/ACME/code/resnet50/longhaul')).sort();
  expect(files).toEqual([
    'README.md',
    'code/link.ts',
    'code/main.ts',
    'run.sh',
    'setup.sh',
    'weights/resnet50_v1.onnx',
  ]);
  expect(warnings.map((text) => text.replace(/^\S+ /, ''))).toEqual([
    '2 entries are left out (names with a leading dot, node_modules, __pycache__)',
    'user.conf: "*.Server.target_latency = 15 # a = b" is not read by the official checker, which wants only model.scenario.key = value on a line',
  ]);
});

it('writes the text of the self-check into the results of each division', () => {
  for (const division of ['network', 'closed', 'open']) {
    const text = textOf(tree, `${division}/ACME/results/compliance_checker_log.txt`);
    expect(text).toMatch(/^Submission check by longhaul \S+, round v4\.1/);
    expect(text).not.toContain('.building-');
  }
});

it('leaves what is there alone; --force replaces a tree that it built', async () => {
  const { tree } = await scene.build(openOnly);
  await expect(scene.build(openOnly, { tree })).rejects.toThrow(
    /already exists: --force replaces it/,
  );
  writeFileSync(join(tree, 'open', 'stray'), 'x');
  const wrong = only('open', { performance: 'runs/Server/accuracy' });
  await expect(scene.build(wrong, { mayReplace: true, tree })).rejects.toThrow(/mode-differs/);
  expect(existsSync(join(tree, 'open', 'stray'))).toBe(true);
  await scene.build(openOnly, { mayReplace: true, tree });
  expect(existsSync(join(tree, 'open', 'stray'))).toBe(false);
  const other = tempFolder();
  writeFileSync(join(other, 'precious'), 'x');
  await expect(scene.build(openOnly, { mayReplace: true, tree: other })).rejects.toThrow(
    /already exists and is not a tree that longhaul built/,
  );
  expect(readdirSync(other)).toEqual(['precious']);
});

it.each(WRONG_SUBMISSIONS)('refuses: %s', async (message, change) => {
  expect(await refusal(change)).toMatch(message);
});

it.each(WRONG_DESCRIPTIONS)('refuses a system description with %j: %s', async (fields, message) => {
  const path = join(scene.folder, 'systems', 'other.json');
  writeFileSync(path, JSON.stringify({ ...filledDescription('datacenter'), ...fields }));
  const text = await refusal(({ systems }) => {
    systems['acme-2n'].file = 'systems/other.json';
  });
  expect(text).toMatch(message);
});

it('lists the problems of everything at once', async () => {
  const text = await refusal(({ results, implementations }) => {
    results[0].performance = 'runs/none';
    results[1].accuracy = 'runs/none';
    implementations.longhaul.code = ['none'];
  });
  expect(text.split('\n')).toHaveLength(3);
});

it('refuses runs that are cut, INVALID, too short or have errors; --dry-run-lengths takes weak ones and marks the tree', async () => {
  const copy = join(scene.folder, 'weak');
  cpSync(join(scene.folder, 'runs/Server/performance'), copy, { recursive: true });
  const log = join(copy, 'mlperf_log_detail.txt');
  const whole = readFileSync(log, 'utf8');
  const weaker = whole
    .replace('"result_validity", "value": "VALID"', '"result_validity", "value": "INVALID"')
    .replace(
      '"effective_min_duration_ms", "value": 600000',
      '"effective_min_duration_ms", "value": 60000',
    );
  writeFileSync(log, weaker);
  const first = { performance: 'weak', compliance: 'runs/Server/compliance' };
  const change = only('closed', first);
  expect(await refusal(change)).toMatch(
    /effective_min_duration_ms is 60000; at least 600000 .*--dry-run-lengths[\s\S]*result_validity is INVALID\./,
  );
  const { tree, warnings } = await scene.build(change, { isDryRun: true });
  expect(warnings).toHaveLength(2);
  expect(textOf(tree, 'NOT_SUBMITTABLE.md')).toContain('Not to be handed in');
  expect(textOf(tree, 'closed/ACME/measurements/acme-2n/resnet50/Server/README.md')).toContain(
    '> **Not to be handed in',
  );
  writeFileSync(log, whole.slice(0, whole.length - 90));
  expect(await refusal(change, true)).toMatch(/the file ends inside a record/);
  writeFileSync(log, whole);
  appendFileSync(
    log,
    ':::MLLOG {"key": "error_runtime", "value": "x", "metadata": {"is_error": true}}\n',
  );
  expect(await refusal(change, true)).toMatch(/mlperf_log_detail\.txt:\d+: error_runtime: x\./);
});
