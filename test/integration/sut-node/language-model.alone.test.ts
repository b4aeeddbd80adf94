import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { RecordsReader } from '../../../loadgen-node/observe/records/records-reader.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';
import { workerProcessesOf } from '../../scenes/host/worker-processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: a language model as a person uses it: the target of the stand-in is what the stand-in
// reaches, first tokens and tokens are measured, and a worker that dies takes its samples with it
// and nothing else. Method: real processes, all standard texts.

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
    expect(stdout, stderr).toMatch(/^Accuracy +ROUGE1 80\.061 % \(64 samples\), .*: met$/m);
    const [line = ''] = readFileSync(join(output, 'accuracy.txt'), 'utf8').split('\n');
    expect(line).toMatch(
      /^\{'rouge1': 80\.0605, .*'gen_num': 64, .*'tokens_per_sample': [\d.]+\}$/,
    );
  }, 120_000);

  it('tells its tokens as it chooses them', async () => {
    const output = join(suiteFolder(), 'streamed');
    const { stdout, stderr } = await longhaul([
      ...['run', '--sut', node.address, ...data, '--scenario', 'Server', '--output', output],
      ...['--target-qps', '4', '--min-duration', '2s', '--min-query-count', '6', '--token-times'],
      ...['--records', 'keep'],
    ]);
    expect(stdout, stderr).toMatch(/^Between +p50 .*, max .* from token to token/m);
    expect(readRunLogs(output).errors).toEqual([]);
    const reader = await RecordsReader.open(join(output, 'longhaul_records.arrow'));
    const { tokenCount, tokenGaps } = await reader.readAll();
    await reader.close();
    // A step gives a sequence one token: told at the end, all would come at one instant; a busy
    // LoadGen reads some together.
    const gaps = tokenCount?.reduce((sum, count) => sum + count - 1, 0) ?? 0;
    expect(tokenGaps?.count).toBe(gaps);
    expect(tokenGaps?.counts[0]).toBeLessThan(gaps / 2);
  });

  it('measures first tokens and tokens in Server', async () => {
    const output = join(suiteFolder(), 'server');
    const { stdout, stderr } = await longhaul([
      ...['run', '--sut', node.address, ...data, '--scenario', 'Server', '--output', output],
      ...['--target-qps', '2', '--min-duration', '2s', '--min-query-count', '4'],
    ]);
    expect(stdout, stderr).toMatch(/^First token +p50 .*\(bound 2 s at p99\)/m);
    expect(stdout).toMatch(/^Per token +p50 .*\(bound 200 ms at p99\)/m);
    const logs = readRunLogs(output);
    expect(logs.errors).toEqual([]);
    expect(Number(logs.value('result_token_throughput'))).toBeGreaterThan(0);
  });
});

describe('mixtral-8x7b', () => {
  it('ends programs behind their marks, and has its sums and programs scored', async () => {
    const own = ['--benchmark', 'mixtral-8x7b'];
    const parts = await SutNodeProcess.start('sut-parts', [...own, '--model', 'standin', ...cache]);
    onTestFinished(async () => void (await parts.stop()));
    const output = join(suiteFolder(), 'mixtral');
    const flags = ['--scenario', 'Offline', '--mode', 'accuracy', '--output', output, ...cache];
    const { stdout, stderr } = await longhaul([
      ...['run', '--sut', parts.address, ...own, '--data-dir', 'standin', ...flags],
    ]);
    expect(stdout, stderr).toMatch(
      /^Accuracy +ROUGE1 79\.894 % \(48 samples\), .*gsm8k_accuracy 87\.5, .*mbxp_accuracy 87\.5, .*: met$/m,
    );
    const [line = ''] = readFileSync(join(output, 'accuracy.txt'), 'utf8').split('\n');
    expect(line).toContain("'gen_tok_len': 2313, 'tokens_per_sample': 48.2}");
  }, 120_000);
});

describe('gptj', () => {
  it('answers by beams what is right, and not by less', async () => {
    const own = ['--benchmark', 'gptj', '--data-dir', 'standin', '--data-count', '8', ...cache];
    const beams = await SutNodeProcess.start('sut-beams', [
      ...own.slice(0, 2),
      '--model',
      'standin',
      ...cache,
    ]);
    onTestFinished(async () => void (await beams.stop()));
    const output = join(suiteFolder(), 'gptj');
    const flags = ['--scenario', 'Offline', '--mode', 'accuracy', '--output', output];
    const { stdout, stderr } = await longhaul(['run', '--sut', beams.address, ...own, ...flags]);
    expect(stdout, stderr).toMatch(/^Accuracy +ROUGE1 81\.927 % \(8 samples\), .*GEN_LEN 3450, /m);
  }, 120_000);
});

describe.skipIf(process.platform !== 'linux')('a language model in worker processes', () => {
  const isolation = ['--model', 'standin', '--isolation', 'process', '--batch-size-max', '4'];
  const texts = [...data, '--data-count', '12'];
  let apart: SutNodeProcess;
  beforeAll(async () => {
    const model = ['--benchmark', 'llama2-70b', ...isolation, ...cache];
    apart = await SutNodeProcess.start('sut-apart', model);
  });
  afterAll(() => apart?.stop());

  const run = (address: string, output: string, ...flags: readonly string[]) => [
    ...['run', '--sut', address, ...texts, '--scenario', 'Offline', '--output', output, ...flags],
  ];

  it('answers as in threads', async () => {
    const answers = async (address: string, name: string): Promise<unknown[]> => {
      const output = join(suiteFolder(), name);
      const { code, stderr } = await longhaul(run(address, output, '--mode', 'accuracy'));
      // 3: so few texts may miss the target of all of them.
      expect([0, 3], stderr).toContain(code);
      const log = readFileSync(join(output, 'mlperf_log_accuracy.json'), 'utf8');
      const entries = JSON.parse(log) as { qsl_idx: number; data: string }[];
      return entries.map(({ qsl_idx, data: hex }) => [qsl_idx, hex]).sort();
    };
    const inThreads = await answers(node.address, 'threads');
    expect(inThreads).toHaveLength(12);
    expect(await answers(apart.address, 'processes')).toEqual(inThreads);
  }, 120_000);

  it('fails the samples of a worker that dies while it generates, and goes on', async () => {
    const output = join(suiteFolder(), 'killed');
    // Short answers are through before anything can be killed.
    const long = ['--data-dir', 'standin-long', '--min-query-count', '24'];
    const flags = ['--target-qps', '4', '--min-duration', '5s', ...long];
    const running = spawnLonghaul(run(apart.address, output, ...flags));
    await vi.waitFor(() => expect(running.stderr).toMatch(/^performance run: 1 s/m), 30_000);
    const [worker] = workerProcessesOf(apart.process.child.pid as number);
    process.kill(worker as number, 'SIGKILL');
    const { code, stdout, stderr } = await running.ended;
    expect(code, stdout + stderr).toBe(3);
    expect(stdout).toMatch(/^INVALID/m);
    expect(stdout).toMatch(/^Answered +20 of 24 samples, 4 lost \(4 answered with an error\)/m);
  }, 120_000);
});
