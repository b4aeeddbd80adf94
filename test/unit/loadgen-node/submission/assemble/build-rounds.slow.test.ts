/*
 * Goal: each round's layout, and what only edge systems and the open division may do.
 * Method: small scenes of simulated runs, built as the open division takes them.
 */
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkTree } from '../../../../../loadgen-node/submission/check/check-tree.ts';
import { tempFolder, textOf, writeTree } from '../../../../scenes/host/folders.ts';
import { buildScene, prepareScene } from '../../../../scenes/submission-tree/built-tree.ts';
import { languageModel, RESNET50 } from '../../../../scenes/submission-tree/scene-models.ts';

const OPEN = { divisions: ['open'], scenarios: ['Server'], tests: [] } as const;

it('leaves mlperf.conf out of a tree of v5.0, and tells a link that is too slow', async () => {
  const { tree, warnings } = await buildScene({
    ...OPEN,
    folder: tempFolder(),
    round: 'v5.0',
    change: ({ systems }) => {
      systems['acme-2n'].network.links[1].rate = '10M';
    },
  });
  // 110,000 bytes per sample, 20 samples per second.
  expect(warnings).toEqual([
    'bandwidth of acme-2n: resnet50 Server: sut-a needs 17.6 Mbit/s into the SUT and has 10 Mbit/s',
  ]);
  const statement = join(tree, 'open/ACME/documentation/acme-2n/bandwidth.md');
  expect(readFileSync(statement, 'utf8')).toContain('**too little**');
  const folder = join(tree, 'open/ACME/measurements/acme-2n/resnet50/Server');
  expect(readdirSync(folder).sort()).toEqual([
    'README.md',
    'acme-2n_longhaul_Server.json',
    'calibration_process.adoc',
    'user.conf',
  ]);
});

it('builds the flat layout of v6.0, maps a model that the round does not know, points at weights', async () => {
  const { tree, warnings } = await buildScene({
    ...OPEN,
    folder: tempFolder(),
    round: 'v6.0',
    change: ({ results, implementations }) => {
      results[0].model = 'my-resnet';
      results[0].reference_model = 'resnet50';
      const source = 'https://example.org/weights.onnx';
      implementations.longhaul.weights = [{ source, sha256: 'ab'.repeat(32), bytes: 3e9 }];
    },
  });
  expect(warnings).toEqual([
    'the weights of longhaul have 3000000000 bytes, above 2 GB: notify the results chair (submission_rules)',
  ]);
  const submitter = join(tree, 'open/ACME');
  expect(readdirSync(submitter).sort()).toEqual([
    'documentation',
    'model_mapping.json',
    'results',
    'src',
    'systems',
  ]);
  const mapping = textOf(submitter, 'model_mapping.json');
  expect(JSON.parse(mapping)).toEqual({ 'my-resnet': 'resnet' });
  expect(readdirSync(join(submitter, 'results/acme-2n/my-resnet/Server')).sort()).toEqual([
    'README.md',
    'accuracy',
    'measurements.json',
    'performance',
    'user.conf',
  ]);
  const readme = textOf(submitter, 'src/my-resnet/longhaul/README.md');
  expect(readme).toContain(`\`${'ab'.repeat(32)}\` | https://example.org/weights.onnx |`);
});

it('builds Interactive of a language model: its result in tokens, its bounds in user.conf', async () => {
  const { tree } = await buildScene({
    ...{ ...OPEN, scenarios: ['Interactive'], folder: tempFolder(), round: 'v5.1' },
    ...{ model: languageModel('llama2-70b-99', 'llama2-70b', 48), isDryRun: true },
    minDuration: '10s',
  });
  const measured = 'open/ACME/measurements/acme-2n/llama2-70b-99/Interactive';
  const conf = textOf(tree, `${measured}/user.conf`);
  expect(conf.split('\n').filter((line) => /_latenc/.test(line))).toEqual([
    '*.Server.target_latency_percentile = 99',
    '*.Server.use_token_latencies = 1',
    '*.Server.ttft_latency = 450',
    '*.Server.tpot_latency = 40',
  ]);
  const readme = textOf(tree, `${measured}/README.md`);
  expect(readme).toMatch(
    /Tokens per second \(what the official checkers read\) \| [\d.]+ tokens\/s \|\n\| Time to the first token at 99 % \| [\d.]+ ms/,
  );
  expect(readme).toMatch(/\| Completed samples per second \| [\d.]+ samples\/s/);
  const finding = { id: 'user-conf-differs' };
  expect((await checkTree(tree)).findings).not.toContainEqual(expect.objectContaining(finding));
  const other = conf.replace('ttft_latency = 450', 'ttft_latency = 2000');
  writeFileSync(join(tree, measured, 'user.conf'), other);
  expect((await checkTree(tree)).findings).toContainEqual(
    expect.objectContaining({ ...finding, seen: expect.stringContaining('ttft_latency is 2000') }),
  );
});

it('copies the runs of a measured result for those that an edge system infers', async () => {
  const { tree } = await buildScene({
    ...OPEN,
    folder: tempFolder(),
    scenarios: ['SingleStream'],
    systemType: 'edge',
    change: ({ results }) => {
      const { performance: _, accuracy: __, compliance: ___, ...rest } = results[0];
      results.push({ ...rest, scenario: 'MultiStream', inferred_from: 'SingleStream' });
      results.push({ ...rest, scenario: 'Offline', inferred_from: 'SingleStream' });
    },
  });
  const results = join(tree, 'open/ACME/results/acme-2n/resnet50');
  const detail = (scenario: string): string =>
    readFileSync(join(results, scenario, 'performance/run_1/mlperf_log_detail.txt'), 'utf8');
  for (const scenario of ['MultiStream', 'Offline']) {
    expect(detail(scenario)).toBe(detail('SingleStream'));
    expect(existsSync(join(results, scenario, 'accuracy/accuracy.txt'))).toBe(true);
  }
  const readme = join(tree, 'open/ACME/measurements/acme-2n/resnet50/MultiStream/README.md');
  expect(readFileSync(readme, 'utf8')).toContain('inferred from the measured SingleStream result');
});

it('repeats the notes of accuracy.txt as they are, and names the files of longhaul that ran', async () => {
  const { folder, build } = await prepareScene({ ...OPEN, folder: tempFolder() });
  const record = (key: string, value: string): string =>
    `:::MLLOG {"key": "${key}", "value": "${value}", "metadata": {"is_error": false}}\n`;
  appendFileSync(
    join(folder, 'runs/Server/performance/mlperf_log_detail.txt'),
    record('longhaul_files_sha256', 'cd'.repeat(32)) + record('longhaul_files_state', 'modified'),
  );
  const note = 'the data set is a stand-in: drawn by longhaul 0.1.0, not ImageNet';
  appendFileSync(join(folder, 'runs/Server/accuracy/accuracy.txt'), `note: ${note}\n`);
  const { tree } = await build();
  const submitter = join(tree, 'open/ACME');
  const readme = join(submitter, 'measurements/acme-2n/resnet50/Server/README.md');
  expect(readFileSync(readme, 'utf8')).toContain(`| Note | ${note} |`);
  expect(readFileSync(readme, 'utf8')).toContain(`> **Note of the run: ${note}.**`);
  const software = join(submitter, 'documentation/acme-2n/software.md');
  expect(readFileSync(software, 'utf8')).toContain(
    `| SHA-256 of its files ${'cd'.repeat(32)}, modified | LoadGen node, SUT node sut-a |`,
  );
});

it('takes a loose latency bound in open, and tells it', async () => {
  const { folder, build } = await prepareScene({ ...OPEN, folder: tempFolder() });
  const log = join(folder, 'runs/Server/performance/mlperf_log_detail.txt');
  const text = readFileSync(log, 'utf8');
  const bound = /("effective_target_latency_ns", "value": )15000000/;
  writeFileSync(
    log,
    text.replace(bound, (_, before: string) => `${before}90000000`),
  );
  const { warnings } = await build();
  expect(warnings).toEqual([
    expect.stringContaining('The bound is 90000000 ns; 15000000 ns at most.'),
  ]);
});

it('builds a tree of v0.5 in which the check finds nothing but what such runs cannot be', async () => {
  const { tree, warnings } = await buildScene({
    folder: tempFolder(),
    round: 'v0.5',
    divisions: ['closed', 'open'],
    scenarios: ['SingleStream', 'MultiStream', 'Server', 'Offline'],
  });
  expect(warnings).toEqual([]);
  const { findings, results, round, roundFrom } = await checkTree(tree);
  expect([round, roundFrom]).toEqual(['v0.5', 'seeds of the logs']);
  const found = findings.map(({ id, severity, file }) => `${severity} ${id} ${file.split('/')[0]}`);
  // LoadGen is longhaul's own, and the SUT is behind a network.
  expect([...new Set(found)].sort()).toEqual([
    'mark not-approved-loadgen closed',
    'mark not-approved-loadgen open',
    'note validation-unchecked .',
    'warning closed-over-network closed',
  ]);
  const ofOpen = results.filter(({ division }) => division === 'open');
  expect(ofOpen.map(({ scenario, metric, value }) => [scenario, metric, value])).toEqual([
    ['MultiStream', 'effective_samples_per_query', 2],
    ['Offline', 'result_samples_per_second', 50],
    // Of the third run, whose target was the lowest.
    ['Server', 'result_scheduled_samples_per_sec', 20.0096],
    ['SingleStream', 'result_90.00_percentile_latency_ns', 50_000_000],
  ]);
  const server = join(tree, 'open/ACME/results/acme-2n/resnet/Server');
  const runs = readdirSync(join(server, 'performance')).sort();
  expect(runs).toEqual(['run_1', 'run_2', 'run_3', 'run_4', 'run_5']);
  const readme = textOf(tree, 'open/ACME/measurements/acme-2n/resnet/Server/README.md');
  expect(readme).toMatch(
    /^\| Scheduled samples per second .*lowest of 5 runs.* \| 20\.010 samples/m,
  );
}, 180_000);

it('takes a test that is verified only as it was left, but for the README of longhaul', async () => {
  const { folder, build } = await prepareScene({
    ...{ ...OPEN, divisions: ['closed'], scenarios: ['Server', 'Offline'] },
    ...{ folder: tempFolder(), round: 'v6.1', minDuration: '10s' },
    model: { ...RESNET50, folder: 'dlrm-v3' },
  });
  for (const scenario of ['Server', 'Offline']) {
    const runs = join(folder, 'runs', scenario);
    // Runs of another LoadGen: they do not tell their benchmark.
    for (const kind of ['performance', 'accuracy']) {
      for (const name of ['longhaul_run.yaml', 'network_audit.json']) {
        rmSync(join(runs, kind, name), { force: true });
      }
    }
    const files = { 'README.md': '# TEST08: passed\n', 'verify_accuracy.txt': 'TEST PASS\n' };
    writeTree(files, join(runs, 'compliance/TEST08'));
  }
  const { tree } = await build(undefined, { isDryRun: true });
  const test = join(tree, 'closed/ACME/results/acme-2n/dlrm-v3/Offline/TEST08');
  expect(readdirSync(test)).toEqual(['verify_accuracy.txt']);
});
