import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scoreAccuracyLog } from '../../../../../loadgen-node/samples/benchmarks/score-each.ts';
import { syntheticDataSet } from '../../../../../loadgen-node/samples/benchmarks/synthetic/synthetic-benchmark.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: a log is worth what its first responses are worth. Method: logs by hand; a response of a byte is right.
const FIVE = syntheticDataSet({
  ...{ name: 'five', sampleBytes: 1, sampleCount: 5, metric: 'answered' },
  isRight: (response) => response.length === 1,
});

function score(...entries: readonly [sample: number, data: string][]) {
  const path = join(tempFolder(), 'mlperf_log_accuracy.json');
  const list = entries.map(([qsl_idx, data], seq_id) => ({ seq_id, qsl_idx, data }));
  writeFileSync(path, JSON.stringify(list));
  return scoreAccuracyLog(FIVE, path);
}

describe('scoreAccuracyLog', () => {
  it('counts the first response of each sample, and all entries', async () => {
    const log = await score([0, '01'], [3, '0102'], [0, '01'], [3, '01'], [0, '0102']);
    expect(log).toMatchObject({ entryCount: 5, report: { correctCount: 1, sampleCount: 2 } });
  });

  it('says of an empty log that nothing was scored', async () => {
    expect(await score()).toMatchObject({ entryCount: 0, report: { sampleCount: 0 } });
  });

  it('refuses a response for a sample that there is not, repeated or not', async () => {
    await expect(score([0, '01'], [5, '01'])).rejects.toThrow('a response for sample 5');
  });
});
