import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scoreAccuracyLog } from '../../../../../loadgen-node/samples/benchmarks/score-each.ts';
import { syntheticDataSet } from '../../../../../loadgen-node/samples/benchmarks/synthetic/synthetic-benchmark.ts';
import { scoreEach } from '../../../../../loadgen-node/samples/data-set/first-of-each.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: all benchmarks count responses in one way. Method: logs by hand; a response of 1 is right.
type Entry = readonly [sampleIndex: number, response: number];

async function score(...entries: readonly Entry[]) {
  const seen: number[] = [];
  const log = entries.map(([sampleIndex, byte]) => ({
    sampleIndex,
    response: Uint8Array.of(byte),
  }));
  const counts = await scoreEach(log, 3, ({ response }) => {
    seen.push(response[0] as number);
    return response[0] === 1;
  });
  return { ...counts, seen };
}

describe('scoreEach', () => {
  it('counts the first response of a sample and looks at all of them', async () => {
    expect(await score([2, 0], [0, 1], [2, 1], [0, 7])).toEqual({
      ...{ value: 0.5, correctCount: 1, sampleCount: 2 },
      seen: [0, 1, 1, 7],
    });
  });

  it('says 0 of no responses', async () => {
    expect(await score()).toMatchObject({ value: 0, correctCount: 0, sampleCount: 0 });
  });

  it.each([3, -1, 0.5, Number.NaN])('refuses a response for sample %s', async (sampleIndex) => {
    await expect(score([0, 1], [sampleIndex, 1])).rejects.toThrow(
      expect.objectContaining({
        code: 'ERR_DATA_SET',
        message: `a response for sample ${sampleIndex}; the data set has the samples 0 to 2`,
      }),
    );
  });
});

// Goal: a log is worth what its first responses are worth. Method: logs by hand; a response of a
// byte is right.
const FIVE = syntheticDataSet({
  ...{ name: 'five', sampleBytes: 1, sampleCount: 5, metric: 'answered' },
  isRight: (response) => response.length === 1,
});

function scoreLog(...entries: readonly [sample: number, data: string][]) {
  const path = join(tempFolder(), 'mlperf_log_accuracy.json');
  const list = entries.map(([qsl_idx, data], seq_id) => ({ seq_id, qsl_idx, data }));
  writeFileSync(path, JSON.stringify(list));
  return scoreAccuracyLog(FIVE, path);
}

describe('scoreAccuracyLog', () => {
  it('counts the first response of each sample, and all entries', async () => {
    const log = await scoreLog([0, '01'], [3, '0102'], [0, '01'], [3, '01'], [0, '0102']);
    expect(log).toMatchObject({ entryCount: 5, report: { correctCount: 1, sampleCount: 2 } });
  });

  it('says of an empty log that nothing was scored', async () => {
    expect(await scoreLog()).toMatchObject({ entryCount: 0, report: { sampleCount: 0 } });
  });

  it('refuses a response for a sample that there is not, repeated or not', async () => {
    await expect(scoreLog([0, '01'], [5, '01'])).rejects.toThrow('a response for sample 5');
  });
});
