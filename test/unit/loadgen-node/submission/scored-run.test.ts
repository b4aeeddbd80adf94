import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DataSet } from '../../../../loadgen-node/samples/data-set/data-set.ts';
import {
  requireSameData,
  scoredRun,
  scoreMarks,
} from '../../../../loadgen-node/submission/score-log.ts';
import { benchmarkRules } from '../../../../shared/rules/benchmark-rules.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';

/** A run's folder with such a record. */
function recorded(yaml: string): string {
  const folder = tempFolder();
  writeFileSync(join(folder, 'longhaul_run.yaml'), `run: { ${yaml} }\n`);
  return folder;
}

const OTHER_IMAGES = 'benchmark: digits, round: v5.0, dataSeed: 77, dataCount: 300';

// Goal: a log is scored with the data that its run was over, or not at all. Method: records and
// logs as text.
describe('scoredRun', () => {
  it("takes benchmark, round and data set from the record of the log's run", () => {
    expect(scoredRun(recorded(OTHER_IMAGES), {})).toMatchObject({
      ...{ benchmark: 'digits', round: 'v5.0', dataSeed: 77, dataCount: 300 },
    });
  });

  it('takes the benchmark of a run with the bounds of Interactive, by either name', () => {
    const folder = recorded('benchmark: llama2-70b-interactive, round: v5.1');
    for (const benchmark of [undefined, 'llama2-70b', 'llama2-70b-interactive-99']) {
      expect(scoredRun(folder, { benchmark })).toMatchObject({ benchmark: 'llama2-70b' });
    }
  });

  it('lets flags win, and takes no seed of the record for a folder of a flag', () => {
    const folder = recorded(OTHER_IMAGES);
    expect(scoredRun(folder, { dataSeed: 5 })).toMatchObject({ dataSeed: 5, dataCount: 300 });
    const own = scoredRun(folder, { dataDir: 'mine' });
    expect([own.dataDir, own.dataSeed, own.dataCount]).toEqual(['mine', undefined, undefined]);
  });

  it.each<[string, string, { benchmark?: string }, RegExp]>([
    ['no benchmark', 'round: v4.1', {}, /--benchmark <name> is needed: .*longhaul_run\.yaml/],
    ["another benchmark than the record's", OTHER_IMAGES, { benchmark: 'null' }, /run of digits/],
  ])('refuses %s', (_, yaml, said, message) => {
    expect(() => scoredRun(recorded(yaml), said)).toThrow(message);
  });
});

describe('requireSameData', () => {
  function logOver(name: string, count: number): string {
    const folder = tempFolder();
    const record = {
      key: 'longhaul_data_set',
      value: { name, sample_count: `${count}` },
      metadata: { is_error: false },
    };
    writeFileSync(join(folder, 'mlperf_log_detail.txt'), `:::MLLOG ${JSON.stringify(record)}\n`);
    return folder;
  }
  const dataSet = { name: 'digits', totalSampleCount: 300 } as DataSet;

  it('refuses a data set of another name or size than that of the detail log', async () => {
    await expect(requireSameData(logOver('digits-seed-77', 300), dataSet)).rejects.toThrow(
      /another data set \(digits-seed-77, 300 samples: .*detail\.txt:1\).*\(digits, 300 samples\)/,
    );
    await expect(requireSameData(logOver('digits', 9), dataSet)).rejects.toThrow(/digits, 9 /);
  });

  it('takes the same one, and a log without a word of it', async () => {
    await expect(requireSameData(logOver('digits', 300), dataSet)).resolves.toBeUndefined();
    await expect(requireSameData(tempFolder(), dataSet)).resolves.toBeUndefined();
  });
});

it("a score has the run's mark that its benchmark is an example", () => {
  const dataSet = { marks: ['other images'] } as unknown as DataSet;
  expect(scoreMarks(tempFolder(), benchmarkRules('digits'), dataSet)).toEqual([
    'benchmark digits is an example of this project, not an MLPerf benchmark',
    'other images',
  ]);
  expect(scoreMarks(tempFolder(), benchmarkRules('resnet50'), dataSet)).toEqual(['other images']);
});
