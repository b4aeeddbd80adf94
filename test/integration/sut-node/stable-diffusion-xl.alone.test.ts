import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAccuracyLog } from '../../../loadgen-node/loadgen/logs/read/accuracy-log-reader.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';

// Goal: pictures from text as a person uses it: a model of four files made, served, asked and
// scored; a response is a whole picture. Method: real processes, 4 prompts; the scores are compared
// with a second scoring of the log.

const PICTURE_BYTES = 3_145_728;
const cache = ['--cache-dir', testCacheFolder()];
const data = ['--benchmark', 'stable-diffusion-xl', '--data-dir', 'standin', '--data-count', '4'];
let node: SutNodeProcess;

beforeAll(async () => {
  node = await SutNodeProcess.start('sut-sdxl', [
    ...['--benchmark', 'stable-diffusion-xl', '--model', 'standin'],
    ...cache,
  ]);
});

afterAll(() => node?.stop());

describe('stable-diffusion-xl', () => {
  it('answers each prompt with a picture, and is scored by its own judge', async () => {
    const output = join(suiteFolder(), 'run');
    const { stdout, stderr, code } = await longhaul([
      ...['run', '--sut', node.address, ...data, ...cache, '--output', output],
      // A timed run of 4 prompts would be too short on a quick machine.
      ...['--scenario', 'Offline', '--mode', 'accuracy', '--ready-timeout', '120s'],
    ]);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/^Accuracy +CLIP_SCORE \d\d\.\d{3} % \(4 samples\), FID_SCORE /m);
    const logs = readRunLogs(output);
    expect(logs.errors).toEqual([]);
    const log = join(output, 'mlperf_log_accuracy.json');
    const samples = new Map<number, number>();
    for await (const { sampleIndex, response } of readAccuracyLog(log)) {
      samples.set(sampleIndex, response.length);
    }
    expect([...samples].sort(([a], [b]) => a - b)).toEqual(
      [0, 1, 2, 3].map((index) => [index, PICTURE_BYTES]),
    );
    const written = readFileSync(join(output, 'accuracy.txt'), 'utf8').split('\n');
    expect(written[0]).toMatch(/^stand-in: neither Inception nor CLIP/);
    const scored = await longhaul(['accuracy', output, ...cache]);
    expect(scored.stdout.split('\n').slice(0, 2)).toEqual(written.slice(0, 2));
  });

  it.each([
    ['the default one', '0.0001', 0, ''],
    ['one above it', '0.0005', 0, ''],
    ['one below it', '0.00009', 2, '0.00009 must be a number from 0.0001 to 1'],
  ])('has a stand-in of any cost from the default on: %s', async (_, cost, exit, message) => {
    const model = ['--model', 'standin', '--standin-cost', cost];
    const check = ['sut', '--check', '--benchmark', 'stable-diffusion-xl', ...model, ...cache];
    const { code, stdout, stderr } = await longhaul(check);
    expect(code, stdout + stderr).toBe(exit);
    expect(stderr).toContain(message);
  });
});
