import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: translation as a person uses it: a model of two files and its vocabularies made, served,
// measured out of a library that repeats its samples, and scored. Method: real processes, 12
// sentences; the BLEU is compared with a second scoring of the log.

const cache = ['--cache-dir', testCacheFolder()];
const data = ['--benchmark', 'gnmt', '--data-dir', 'standin', '--data-count', '12', ...cache];
let node: SutNodeProcess;

beforeAll(async () => {
  node = await SutNodeProcess.start('sut-mt', [
    ...['--benchmark', 'gnmt', '--model', 'standin', ...cache],
  ]);
});

afterAll(() => node?.stop());

describe('gnmt', () => {
  it('has each sentence once in accuracy, and 1,300 times in performance', async () => {
    const output = join(suiteFolder(), 'run');
    const { stdout, stderr } = await longhaul([
      ...['run', '--sut', node.address, ...data, '--output', output, '--round', 'v0.5'],
      ...['--scenario', 'Offline', '--mode', 'submission', '--min-duration', '1s'],
      ...['--min-query-count', '20', '--target-qps', '10'],
    ]);
    expect(stdout, stderr).toMatch(
      /^Accuracy +BLEU \d\d\.\d{3} % \(12 samples\), target 67\.914 %/m,
    );
    const logs = readRunLogs(output);
    expect(logs.errors).toEqual([]);
    expect(logs.value('qsl_reported_total_count')).toBe(15_600);
    const logged = JSON.parse(readFileSync(join(output, 'mlperf_log_accuracy.json'), 'utf8'));
    expect(new Set((logged as { qsl_idx: number }[]).map((entry) => entry.qsl_idx)).size).toBe(12);
    expect(logged).toHaveLength(12);
    const written = readFileSync(join(output, 'accuracy.txt'), 'utf8').split('\n');
    expect(written[0]).toMatch(/^BLEU: \d\d\.\d$/);
    const scored = await longhaul(['accuracy', output, ...cache]);
    expect(scored.stdout.split('\n')[0]).toBe(written[0]);
  });

  it('scores a log with the references alone', async () => {
    const folder = 'test/golden/benchmarks/gnmt/a';
    const log = join(folder, 'mlperf_log_accuracy.json');
    const { stdout, code } = await longhaul([
      ...['accuracy', log, '--benchmark', 'gnmt', '--data-dir', folder],
    ]);
    expect(stdout.split('\n')[0]).toBe('BLEU: 56.9');
    expect(code).toBe(0);
  });
});
