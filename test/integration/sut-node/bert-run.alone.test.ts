import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureStandinSquad } from '../../../loadgen-node/samples/benchmarks/bert/standin-questions.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: bert as a person uses it: stand-in model and data are made, served and measured, in each
// scenario and each form on the wire, and the accuracy is the same whatever the form and whether
// padding goes through the model. Method: two real nodes, one whose model takes 384 tokens and one
// whose takes any length; 24 samples, whose score is known.
const SAMPLE_COUNT = 24;
const LINE = '{"exact_match": 95.83333333333333, "f1": 95.83333333333333}';

const cache = ['--cache-dir', testCacheFolder()];
const data = [
  ...['--benchmark', 'bert', '--data-dir', 'standin'],
  ...['--data-count', `${SAMPLE_COUNT}`],
];
const nodes: SutNodeProcess[] = [];

beforeAll(async () => {
  for (const model of ['standin', 'standin-free']) {
    const flags = ['--benchmark', 'bert', '--model', model, ...cache];
    nodes.push(await SutNodeProcess.start(`sut-${model}`, flags));
  }
});

afterAll(() => Promise.all(nodes.map((node) => node.stop())));

async function run(node: number, ...flags: readonly string[]) {
  return runAt((nodes[node] as SutNodeProcess).address, ...flags);
}

async function runAt(address: string, ...flags: readonly string[]) {
  const output = suiteFolder();
  const common = ['run', '--sut', address, ...data, ...cache, '--output', output];
  const ended = await longhaul([
    ...common,
    '--target-qps',
    '5',
    '--ready-timeout',
    '60s',
    ...flags,
  ]);
  return { ...ended, output };
}

describe('longhaul run --benchmark bert', () => {
  it.each([
    ['token ids', 0, ['--encoding', 'ids']],
    ['three inputs, int64', 0, ['--encoding', 'int64']],
    ['token ids without the padding', 1, []],
    [
      'three inputs, int32, compressed, without the padding',
      1,
      ['--encoding', 'int32', '--compression', 'gzip'],
    ],
  ])('has the same accuracy with %s', async (_case, node, flags) => {
    const { stdout, stderr, output } = await run(
      node,
      '--scenario',
      'Offline',
      '--mode',
      'accuracy',
      ...flags,
    );
    expect(stdout, stderr).toContain(`F1 95.833 % (${SAMPLE_COUNT} samples), target 89.038 %`);
    expect(stdout).toContain('a stand-in for the model of bert');
    const text = readFileSync(join(output, 'accuracy.txt'), 'utf8');
    expect(text.split('\n')[0]).toBe(LINE);
    expect(text).toContain('note: the data set is a stand-in');
    const scored = await longhaul(['accuracy', output, ...data, ...cache]);
    expect(scored.stdout.split('\n')[0]).toBe(LINE);
  });

  it.each(['Offline', 'Server', 'SingleStream', 'MultiStream'])('measures %s', async (scenario) => {
    const short = ['--min-duration', '10ms', '--min-query-count', '3', '--target-latency', '60s'];
    const flags = scenario === 'Server' ? short : short.slice(0, 4);
    const { stdout, stderr, output } = await run(
      1,
      '--scenario',
      scenario,
      '--max-query-count',
      '3',
      ...flags,
    );
    expect(stdout, stderr).toMatch(/^Answered +(\d+) of \1 (queries|samples), none lost$/m);
    expect(existsSync(join(output, 'mlperf_log_detail.txt'))).toBe(true);
    expect(readRunLogs(output).summary).toContain(`Scenario : ${scenario}`);
  });

  it('has the same accuracy over the Open Inference Protocol', async () => {
    const { address } = nodes[1] as SutNodeProcess;
    const flags = ['--scenario', 'Offline', '--mode', 'accuracy', '--encoding', 'ids'];
    const { stderr, output } = await runAt(
      `oip://${address}`,
      ...['--model', 'bert-standin-free-length', ...flags],
    );
    expect(existsSync(join(output, 'accuracy.txt')), stderr).toBe(true);
    expect(readFileSync(join(output, 'accuracy.txt'), 'utf8').split('\n')[0]).toBe(LINE);
  });

  it('says what is wrong with data, and with a cost of a model that has none', async () => {
    const folder = await ensureStandinSquad(
      { seed: 1, sampleCount: 2 },
      { cacheFolder: testCacheFolder(), onProgress: () => {} },
    );
    const { address } = nodes[0] as SutNodeProcess;
    const asked = ['run', '--sut', address, '--benchmark', 'bert', '--scenario', 'Offline'];
    const other = await longhaul([...asked, '--target-qps', '5', '--data-dir', suiteFolder()]);
    expect(other).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/lacks dev-v1\.1\.json and vocab\.txt/),
    });
    const missing = await longhaul([...asked, '--target-qps', '5']);
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('needs --data-dir FOLDER with dev-v1.1.json'),
    });
    const file = join(folder, 'vocab.txt');
    const cost = await longhaul([
      'sut',
      '--check',
      '--benchmark',
      'bert',
      '--model',
      file,
      '--standin-cost',
      '0.5',
    ]);
    expect(cost).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--standin-cost 0.5 has no effect'),
    });
  });
});
