import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { RUN_SUMMARY } from '../../../loadgen-node/observe/summary/run-summary.ts';
import { suiteFolder, writeTree } from '../../scenes/host/folders.ts';
import { type Ended, SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';
import { filledDescription } from '../../scenes/submission-tree/submission-tree.ts';
import { describeOfficial, linkOfficial, OfficialTools, taggedChecker } from './official-tools.ts';

// Goal: a user's way from his LoadGen to a tree: runs and a curve by the C++ LoadGen v4.1, a tree
// of them, and a checker that minds the length of the runs alone. Method: the program as a user
// starts it, a node with the digits example in the open division, runs of seconds.

const ROUND = 'v4.1';
const SCENARIOS = { Server: '50', Offline: '1000' } as const;
type RunScenario = keyof typeof SCENARIOS;

/**
 * What the checker says of short runs of `digits` in the place of resnet50, and that there is then
 * no result.
 */
const OF_SHORT_RUNS = [
  /Test duration less than 600s in user config\. expected=600000, found=3000$/,
  /Required minimum samples per query not met by user config, Expected=24576, Found=\d+$/,
  /Early stopping condition was not met, msg= \* Run unsuccessful\./,
  /Latency constraint with early stopping not met, expected=15000000, found=100000000$/,
  /run_1 has issues$/,
  /NoResults open\/ACME\/results\/acme-2n\/digits\/(?:Server|Offline)$/,
  /SUMMARY: submission has errors$/,
];

describeOfficial('a tree of runs by the C++ LoadGen', () => {
  const folder = suiteFolder();
  let node: SutNodeProcess;
  let cacheFolder: string;

  const longhaul = (...args: string[]): Promise<Ended> => spawnLonghaul(args).ended;
  const outputOf = (scenario: RunScenario, mode: string): string => join(folder, scenario, mode);

  const run = (scenario: RunScenario, mode: 'performance' | 'accuracy') =>
    longhaul(
      ...['run', '--engine', 'cpp', '--cache-dir', cacheFolder, '--sut', node.address],
      ...['--benchmark', 'digits', '--division', 'open', '--scenario', scenario, '--mode', mode],
      ...['--target-qps', mode === 'accuracy' ? '300' : SCENARIOS[scenario]],
      ...['--min-duration', '3s', '--min-query-count', '100', '--generator-lag-max', '99'],
      ...['--output', outputOf(scenario, mode)],
    );

  beforeAll(async () => {
    cacheFolder = linkOfficial(ROUND, join(folder, 'inference'));
    node = await SutNodeProcess.start('sut-a', []);
    await node.process.says(/is ready: digits/);
  });

  afterAll(() => node.stop());

  it.each([
    ['Server', 'performance'],
    ['Server', 'accuracy'],
    ['Offline', 'performance'],
    ['Offline', 'accuracy'],
  ] as const)('has a run in %s, %s', async (scenario, mode) => {
    const { code, stdout, stderr } = await run(scenario, mode);
    // On a busy machine a short run may be INVALID: its length is then the reason, or its speed.
    expect([0, 3], stdout + stderr).toContain(code);
    const output = outputOf(scenario, mode);
    const summary = RUN_SUMMARY.parse(
      JSON.parse(readFileSync(join(output, 'longhaul_summary.json'), 'utf8')),
    );
    expect(summary.engine).toMatchObject({ tag: ROUND, otherSamples: 0, doubts: [] });
    expect(readFileSync(join(output, 'longhaul_run.yaml'), 'utf8')).toContain('cpp-loadgen');
  });

  it('is built, and has no mark of another LoadGen, and no error of the checker but lengths', async () => {
    const weights = 'example.onnx';
    const config = join(folder, 'submission.yaml');
    const submission = submissionOf(weights);
    writeTree(
      {
        'acme-2n.json': `${JSON.stringify(filledDescription('datacenter'), null, 2)}\n`,
        'submission.yaml': stringify({ submission }),
        [weights]: 'weights of the test\n',
      },
      folder,
    );
    const tree = join(folder, 'tree');
    const built = await longhaul(
      ...['submission', 'build', '--config', config, '--output', tree, '--dry-run-lengths'],
    );
    expect(built.code, built.stderr).toBe(0);
    const backup = join(folder, 'originals');
    const cut = await longhaul(
      'submission',
      'truncate',
      tree,
      '--round',
      ROUND,
      '--backup',
      backup,
    );
    expect(cut.code, cut.stderr).toBe(0);

    const checked = await longhaul('submission', 'check', tree, '--round', ROUND);
    expect(checked.stdout).toMatch(/\d errors?,/);
    for (const mark of ['not-approved-loadgen', 'loadgen-contradicted', 'loadgen-not-known']) {
      expect(checked.stdout).not.toContain(mark);
    }

    const { tag, script, files } = taggedChecker(ROUND);
    const tools = new OfficialTools(tag, join(folder, 'tools'), files);
    const args = ['--input', tree, '--version', ROUND, '--submitter', 'ACME'];
    const { output } = tools.run(script, args, join(folder, 'cwd'));
    const errors = output.split('\n').filter((line) => line.includes(' ERROR] '));
    expect(errors.length).toBeGreaterThan(2);
    expect(errors.filter((line) => !OF_SHORT_RUNS.some((known) => known.test(line)))).toEqual([]);
  });

  it('comes with a curve, each point of which is a test of its own', async () => {
    const output = join(folder, 'curve');
    const { code, stdout, stderr } = await longhaul(
      ...['curve', '--engine', 'cpp', '--cache-dir', cacheFolder, '--sut', node.address],
      ...['--benchmark', 'digits', '--division', 'open', '--latency', '200ms', '--qps', '20,40'],
      ...['--min-duration', '1s', '--min-query-count', '10', '--keep-probes', '--output', output],
    );
    expect(code, stderr).toBe(0);
    for (const point of [1, 2]) {
      const log = readFileSync(join(output, `probe-${point}`, 'mlperf_log_detail.txt'), 'utf8');
      expect(log).toContain('"key": "loadgen_version", "value": "4.1 @ 379ee5345a"');
    }
    // The points have a line each on the screen, and the curve one beginning.
    expect(stdout.match(/^Rates with Poisson arrivals/gm)).toHaveLength(1);
    expect(stdout).toMatch(/^ +20 .*\n(?: {10}.*\n)* +40 /m);
  });
});

function submissionOf(weights: string): object {
  return {
    submitter: 'ACME',
    round: ROUND,
    systems: {
      'acme-2n': {
        file: 'acme-2n.json',
        data_path: 'NIC, PCIe 4.0 x16, host memory; the model runs on the host.',
        data_path_evidence: 'PCIe 4.0 x16 carries 252 Gbit/s.',
        network: {
          sut_nodes: ['sut-a'],
          components: [{ id: 'sw1', kind: 'switch', name: 'Switch of the test, 32 x 100G' }],
          links: [
            { from: 'loadgen', to: 'sw1', media: 'copper (DAC)', rate: '25G' },
            { from: 'sw1', to: 'sut-a', media: 'copper (DAC)', rate: '25G' },
          ],
        },
      },
    },
    implementations: {
      longhaul: {
        weights: [{ file: weights }],
        software: [{ name: 'Debian', version: '12', method: 'binary', release: 'production' }],
        calibration: { text: 'The weights are used as they are.' },
        starting_weights_filename: weights,
        weight_data_types: 'fp32',
        weight_transformations: 'none',
        input_data_types: 'uint8',
        retraining: 'No',
      },
    },
    results: (['Server', 'Offline'] as const).map((scenario) => ({
      divisions: ['open'],
      system: 'acme-2n',
      implementation: 'longhaul',
      ...{ model: 'digits', reference_model: 'resnet50', scenario },
      performance: `${scenario}/performance`,
      accuracy: `${scenario}/accuracy`,
    })),
  };
}
