import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: a language model as a person uses it: the target of the stand-in is what the stand-in reaches, and first tokens and
// tokens are measured. Method: real processes, all standard texts.

const cache = ['--cache-dir', testCacheFolder()];
const data = ['--benchmark', 'llama2-70b', '--data-dir', 'standin', ...cache];
let node: SutNodeProcess;

beforeAll(async () => {
  const model = ['--benchmark', 'llama2-70b', '--model', 'standin'];
  node = await SutNodeProcess.start('sut-text', [...model, ...cache]);
});

afterAll(() => node?.stop());

describe('llama2-70b', () => {
  it('reaches with its stand-in the figures that the target stands on', async () => {
    const output = join(suiteFolder(), 'accuracy');
    const flags = ['--scenario', 'Offline', '--mode', 'accuracy', '--output', output];
    const { stdout, stderr } = await longhaul(['run', '--sut', node.address, ...data, ...flags]);
    expect(stdout, stderr).toMatch(/^Accuracy +ROUGE1 82\.919 % \(64 samples\), .*: met$/m);
    const [line = ''] = readFileSync(join(output, 'accuracy.txt'), 'utf8').split('\n');
    expect(line).toMatch(
      /^\{'rouge1': 82\.9192, .*'gen_num': 64, .*'tokens_per_sample': [\d.]+\}$/,
    );
  }, 120_000);

  it('measures first tokens and tokens in Server', async () => {
    const output = join(suiteFolder(), 'server');
    const { stdout, stderr } = await longhaul([
      ...['run', '--sut', node.address, ...data, '--scenario', 'Server', '--output', output],
      ...['--target-qps', '2', '--min-duration', '2s', '--min-query-count', '4'],
    ]);
    expect(stdout, stderr).toMatch(/^First token +p50 .*\(bound 2 s at the 99th percentile\)/m);
    expect(stdout).toMatch(/^Per token +p50 .*\(bound 200 ms at the 99th percentile\)/m);
    const logs = readRunLogs(output);
    expect(logs.errors).toEqual([]);
    expect(Number(logs.value('result_token_throughput'))).toBeGreaterThan(0);
  }, 60_000);
});
