import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder, tempFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: dlrm-v2 as a person uses it: a node with the stand-in, runs that send samples from memory
// and from a file, compressed or not, and official logs scored. Method: real processes, 24 samples,
// the smallest stand-in.

const GOLDEN = 'test/golden/benchmarks/dlrm-v2';
const cache = ['--cache-dir', testCacheFolder()];

let node: SutNodeProcess;
beforeAll(async () => {
  const model = ['--benchmark', 'dlrm-v2', '--model', 'standin', '--standin-cost', '0.01'];
  node = await SutNodeProcess.start('sut-dlrm', [...model, ...cache]);
});
afterAll(() => node?.stop());

async function run(...flags: readonly string[]) {
  const output = join(suiteFolder(), 'run');
  const data = ['--data-dir', 'standin', '--data-count', '24'];
  const ended = await longhaul([
    ...['run', '--sut', node.address, '--benchmark', 'dlrm-v2', ...data, ...cache],
    ...['--output', output, ...flags],
  ]);
  return { ...ended, output, logs: readRunLogs(output) };
}

const SERVER = [
  ...['--scenario', 'Server', '--target-qps', '10', '--target-latency', '10s'],
  ...['--min-duration', '1s', '--min-query-count', '10'],
];

describe('a run of dlrm-v2', () => {
  it('scores all samples by their AUC', async () => {
    const { stdout, stderr, output } = await run('--scenario', 'Offline', '--mode', 'accuracy');
    expect(stdout, stderr).toMatch(/Accuracy +AUC \d\d\.\d+ % \(24 samples\), target 79\.134 %/);
    const line = readFileSync(join(output, 'accuracy.txt'), 'utf8');
    expect(line).toMatch(
      /^AUC=\d\d\.\d{3}%, accuracy=\d\d\.\d{3}%, good=\d+, total=6800, queries=24\n/,
    );
    expect(line).toContain('stand-in');
    const again = await longhaul(['accuracy', output, ...cache]);
    expect(again.stdout).toBe(line);
  });

  it('sends queries that were compressed as a whole, out of a file, in Server', async () => {
    const flags = [
      '--compression',
      'lz4',
      '--compression-scope',
      'query',
      '--sample-store',
      'file',
    ];
    const { stdout, stderr, code, logs } = await run(...SERVER, ...flags);
    expect([0, 3], stderr).toContain(code);
    expect(logs.errors).toEqual([]);
    expect(stdout).toContain('none lost');
    expect(stdout).toContain('the loaded samples lie in a file, not in memory');
  });
});

describe('longhaul accuracy', () => {
  it.each(['with-labels', 'predictions-only'])(
    'prints the line of accuracy-dlrm.py: %s',
    async (form) => {
      const log = join(GOLDEN, `mlperf_log_accuracy.${form}.json`);
      const flags = ['--benchmark', 'dlrm-v2', '--data-dir', GOLDEN, ...cache];
      const { stdout, stderr } = await longhaul(['accuracy', log, ...flags]);
      expect(stdout.split('\n')[0], stderr).toBe(
        'AUC=80.818%, accuracy=88.886%, good=3671, total=4130, queries=150',
      );
    },
  );

  it('names a folder without the files', async () => {
    const log = join(GOLDEN, 'mlperf_log_accuracy.predictions-only.json');
    const flags = ['--benchmark', 'dlrm-v2', '--data-dir', tempFolder(), ...cache];
    const { stderr, code } = await longhaul(['accuracy', log, ...flags]);
    expect(stderr).toMatch(/longhaul-test-\w+ has none of the files day_23_dense\.npy/);
    expect(code).toBe(5);
  });
});
