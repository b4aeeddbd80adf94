import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';

// Goal: a compliance test is one command after a run: it repeats the run's settings, verifies, and
// leaves what a submission needs. Method: the real program against a real SUT node. How fast this
// machine is decides nothing here: the two speeds may differ, and the verdict has to agree with the
// files.

const cache = ['--cache-dir', testCacheFolder()];
const submission = suiteFolder();
let node: SutNodeProcess;

beforeAll(async () => {
  const dataFolder = await smallDataSet(64);
  node = await SutNodeProcess.start('sut-a', cache);
  await node.process.says(/is ready/);
  const { code } = await longhaul([
    ...['run', '--sut', node.address, '--benchmark', 'digits', '--data-dir', dataFolder],
    ...['--mode', 'submission', '--target-qps', '200', '--min-duration', '500ms'],
    ...['--target-latency', '10s', '--target-latency-percentile', '90'],
    ...['--output', submission, ...cache],
  ]);
  expect(code).toBe(0);
});

afterAll(async () => {
  await node.stop();
});

describe('longhaul compliance', () => {
  it('runs TEST01 with the settings of the submission run and a lowered rate, and verifies it', async () => {
    const flags = ['--run', submission, '--lower-qps', '5'];
    const { code, stdout } = await longhaul(['compliance', 'TEST01', ...flags]);
    const folder = join(submission, 'compliance');
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    const responses = read('TEST01/verify_accuracy.txt');
    expect(responses).toContain(
      'num_perf_log_data_mismatch = 0\nnum_missing_qsl_idxs = 0\nTEST PASS',
    );
    const hasPassed = read('TEST01/verify_performance.txt').includes('TEST PASS');
    expect([code, /^TEST01 (passed|failed)/m.exec(stdout)?.[1]]).toEqual(
      hasPassed ? [0, 'passed'] : [3, 'failed'],
    );
    expect(readdirSync(join(folder, 'TEST01/performance/run_1')).sort()).toEqual([
      'mlperf_log_detail.txt',
      'mlperf_log_summary.txt',
    ]);
    expect(readdirSync(join(folder, 'TEST01/accuracy')).sort()).toEqual([
      'accuracy.txt',
      'mlperf_log_accuracy.json',
    ]);
    expect(read('TEST01/README.md')).toContain(
      "190 per second, lowered by 5.00 % from the submission run's 200",
    );
    expect(read('TEST01-run/longhaul_run.yaml')).toMatch(
      /targetQps: 190 +# compliance TEST01: --lower-qps 5 of 200/,
    );
    expect(read('TEST01-run/audit.config')).toContain('*.*.accuracy_log_sampling_target = 4096');
    expect(read('TEST01-run/mlperf_log_detail.txt')).toContain('Found Audit Config file');
  });
});
