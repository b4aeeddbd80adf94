import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { MlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import { MemoryQsl } from '../../../../scenes/simulated-run/memory-qsl.ts';
import { errorTexts } from '../../../../scenes/simulated-run/run-logs.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';

const SERVER: Partial<TestSettings> = {
  scenario: 'Server',
  serverTargetQps: 1000,
  minDurationMs: 1000,
};

// Goal: what is wrong before the first query refuses the test, and what breaks around it later
// costs no result. Method: a disk, a library or a judge that fails, under simulated time.
describe('the environment', () => {
  it('is checked before the SUT is asked for anything', async () => {
    const test = simulatedTest(SERVER);
    const file = join(test.outdir, 'file');
    writeFileSync(file, '');
    const run = test.run({ log: { outdir: join(file, 'results') } });
    await expect(run).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: expect.stringMatching(/output folder .*results: a part of the path is not a folder/),
    });
    expect(test.sut.calls).toEqual(['stop']);
  });

  it.runIf(existsSync('/dev/full'))(
    'refuses a disk that is full before the first query',
    async () => {
      const test = simulatedTest(SERVER);
      symlinkSync('/dev/full', join(test.outdir, 'mlperf_log_detail.txt'));
      await expect(test.run()).rejects.toMatchObject({
        code: 'ERR_OUTPUT',
        message: expect.stringMatching(/mlperf_log_detail.txt: the disk is full/),
      });
      expect(test.sut.calls.at(-1)).toBe('stop');
    },
  );

  it.runIf(existsSync('/dev/full'))(
    'keeps the result where the disk fills up during the run',
    async () => {
      const test = simulatedTest(SERVER);
      // The summary is written at the end alone.
      symlinkSync('/dev/full', join(test.outdir, 'mlperf_log_summary.txt'));
      const outcome = await test.run();
      expect(outcome.verdicts.longhaul.isValid).toBe(true);
      expect(outcome.failures).toMatchObject([
        { code: 'ERR_OUTPUT', message: expect.stringMatching(/log_summary.txt: the disk is full/) },
      ]);
    },
  );

  it('keeps the result where the judge breaks', async () => {
    const test = simulatedTest(SERVER);
    const judge = () => Promise.reject(new TypeError('x is not a function'));
    const outcome = await test.run({ observer: { judge } });
    expect(outcome.performance?.counts.completedSamples).toBeGreaterThan(0);
    expect(outcome.verdicts.loadgen.isValid).toBe(true);
    expect(outcome.verdicts.longhaul.reasons.map(({ rule }) => rule)).toEqual(['judge']);
    expect(outcome.failures).toMatchObject([
      { code: 'ERR_INTERNAL', message: 'x is not a function' },
    ]);
    expect(errorTexts(outcome.logFiles.detail)[0]).toMatch(/could not judge the run: x is not/);
  });

  it('passes an error of the sample library on', async () => {
    const qsl = new MemoryQsl(100);
    const error = new MlperfError('ERR_DATA_SET', 'file 7 is damaged');
    qsl.loadSamplesToRam = () => Promise.reject(error);
    const test = simulatedTest(SERVER, {}, qsl);
    await expect(test.run()).rejects.toBe(error);
    expect(test.sut.calls).toEqual(['name', 'start', 'stop']);
  });

  it.each<[string, Partial<TestSettings>, RegExp]>([
    [
      'two wrong numbers',
      { minQueryCount: -1, minDurationMs: 0.5 },
      /minDurationMs.*minQueryCount/,
    ],
    [
      'a percentile of 1',
      { scenario: 'Server', serverTargetLatencyPercentile: 1 },
      /above 0 and below 1/,
    ],
    ['too many issue threads', { serverNumIssueQueryThreads: 5000 }, /must be 1024 or less/],
    ['a Server rate of 0', { ...SERVER, serverTargetQps: 0 }, /server_target_qps must be above 0/],
    [
      'a sample outside the set',
      { ...SERVER, performanceIssueSame: true, performanceIssueSameIndex: 100 },
      /only 100 samples/,
    ],
    [
      'too many samples',
      { scenario: 'Offline', offlineExpectedQps: 1e9 },
      /^test settings: offline_expected_qps 1000000000 .* 268435456 are the most: lower/,
    ],
  ])('refuses %s', async (_case, settings, text) => {
    const run = simulatedTest(settings).run();
    await expect(run).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringMatching(text),
    });
  });
});
