import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { verifyTest04 } from '../../../../../../loadgen-node/submission/compliance/verify/verify-speed-tests.ts';
import { suiteFolder, tempFolder } from '../../../../../scenes/host/folders.ts';
import { record } from '../../../../../scenes/submission-tree/changes.ts';
import { ComplianceScene } from '../../../../../scenes/submission-tree/compliance-scene.ts';

const scene = new ComplianceScene(suiteFolder(), 'v4.1', 'Server');
let test = '';

/** The test's run with another value of one key in its detail log. */
function edited(key: string, value: string): string {
  const folder = join(tempFolder(), 'edited');
  cpSync(test, folder, { recursive: true });
  record('mlperf_log_detail.txt', key, value).make(folder);
  return folder;
}

// Goal: figures of two different things are never compared. Method: one fact of a good test run is
// changed.
describe('a test run that is not one of the submission run', () => {
  beforeAll(async () => {
    await scene.submit();
    test = await scene.test('TEST04');
  });

  it.each([
    ['sut_name', '"Network SUT: other"', /name of the SUT/],
    ['qsl_name', '"another data set"', /data set/],
    ['qsl_reported_total_count', '2999', /samples of the data set/],
    ['effective_scenario', '"Offline"', /scenario \(effective_scenario\): Offline/],
    ['effective_target_latency_ns', '16000000', /latency bound in ns/],
    ['effective_target_latency_percentile', '0.9', /percentile of the latency bound/],
    ['requested_qsl_rng_seed', '6023615788873153749', /seeds: 6023615788873153749/],
    ['effective_test_mode', '"AccuracyOnly"', /PerformanceOnly is needed/],
  ])('is refused for another %s', async (key, value, message) => {
    const other = { ...scene, test: edited(key, value) };
    await expect(verifyTest04(other)).rejects.toThrow(message);
  });

  it('is refused for another benchmark, where the records of longhaul say so', async () => {
    const [performance, other] = ['digits', 'resnet50'].map((benchmark, i) => {
      const folder = join(tempFolder(), 'recorded');
      cpSync(i === 0 ? scene.performance : test, folder, { recursive: true });
      writeFileSync(join(folder, 'longhaul_run.yaml'), `run:\n  benchmark: ${benchmark}\n`);
      return folder;
    }) as [string, string];
    await expect(verifyTest04({ ...scene, performance, test: other })).rejects.toThrow(
      /benchmark: resnet50, in the submission run digits/,
    );
  });

  it('is refused in another round than that of the seeds', async () => {
    await expect(verifyTest04({ ...scene, round: 'v5.0', test })).rejects.toThrow(
      /of round v4\.1; round v5\.0 has 6023615788873153749/,
    );
  });

  it('is refused where the submission run is a run of a test itself', async () => {
    await expect(verifyTest04({ ...scene, performance: test, test })).rejects.toThrow(
      /no submission run but one of a compliance test: effective_performance_issue_same is true/,
    );
  });

  it('is refused where its log is damaged, naming the line', async () => {
    const folder = edited('effective_scenario', '"Server');
    await expect(verifyTest04({ ...scene, test: folder })).rejects.toThrow(
      /mlperf_log_detail\.txt:\d+: the record .* is not JSON/,
    );
  });
});
