import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeAggregationTrace } from '../../../../../../loadgen-node/samples/benchmarks/dlrm-v2/aggregation-trace.ts';
import { benchmark } from '../../../../../../loadgen-node/samples/benchmarks/dlrm-v2/benchmark.ts';
import { scoreClicks } from '../../../../../../loadgen-node/samples/benchmarks/dlrm-v2/click-score.ts';
import { scoreAccuracyLog } from '../../../../../../loadgen-node/samples/benchmarks/score-each.ts';
import { SeededRandom } from '../../../../../../shared/benchmarks/digits/seeded-random.ts';

// Goal: AUC and accuracy are those of accuracy-dlrm.py, digit for digit, in both forms of its log.
// Method: the goldens, and 1,000 random logs with many equal predictions against the definition of
// the AUC by counting every pairing.

const GOLDEN = new URL('../../../../../golden/benchmarks/dlrm-v2/', import.meta.url).pathname;

const openGolden = () =>
  benchmark.openDataSet({ dataFolder: GOLDEN, cacheFolder: '', onProgress: () => {} });

describe('goldens', () => {
  it.each(['with-labels', 'predictions-only'])('%s', async (form) => {
    const printed = readFileSync(`${GOLDEN}expected-stdout.${form}.txt`, 'utf8').trim();
    const log = `${GOLDEN}mlperf_log_accuracy.${form}.json`;
    const { report } = await scoreAccuracyLog(await openGolden(), log);
    expect(report.scriptLine).toBe(printed.split('\n').at(-1));
    expect(report).toMatchObject({ metric: 'AUC', value: 0.80818, sampleCount: 150 });
    expect(report.correctCount).toBeUndefined();
  });

  it('are no data that samples can be read of', async () => {
    const dataSet = await openGolden();
    await expect(dataSet.readPayload(0, 'raw')).rejects.toThrow(
      /day_23_dense\.npy and .* not there/,
    );
    expect(dataSet.marks).toEqual([expect.stringContaining('150 samples of 4,130 pairs')]);
  });
});

/** @param pairs Per sample: prediction and label of each pair. */
function score(
  pairs: readonly (readonly (readonly [number, number])[])[],
  { isLabelled = false, order = pairs.map((_, i) => i) } = {},
) {
  const trace = Uint32Array.of(0, ...pairs.map((_, i) => pairs.slice(0, i + 1).flat().length));
  const labels = Uint8Array.from(pairs.flat(), ([, label]) => label);
  const entries = order.map((sampleIndex) => ({
    sampleIndex,
    response: new Uint8Array(
      Float32Array.from(pairs[sampleIndex]?.flatMap(([p, l]) => (isLabelled ? [p, l] : [p])) ?? [])
        .buffer,
    ),
  }));
  return scoreClicks(entries, trace, isLabelled ? undefined : { file: 'labels', labels });
}

describe('scoreClicks', () => {
  it('counts every pairing of a click and another pair, in 1,000 random logs', async () => {
    const random = new SeededRandom(5, 0);
    for (let round = 0; round < 1000; round += 1) {
      const levels = 1 + random.integerBelow(8);
      const pairs = Array.from({ length: 2 + random.integerBelow(5) }, () =>
        Array.from({ length: 1 + random.integerBelow(6) }, (): [number, number] => [
          Math.fround((random.integerBelow(levels) - 2) / 4),
          random.integerBelow(2),
        ]),
      );
      const all = pairs.flat();
      (pairs[0]?.[0] as [number, number])[1] = 1;
      (pairs[1]?.[0] as [number, number])[1] = 0;
      const clicks = all.filter(([, label]) => label === 1);
      const others = all.filter(([, label]) => label === 0);
      const above = clicks.map(([p]) =>
        others.map(([q]) => (p > q ? 1 : p === q ? 0.5 : 0) as number).reduce((a, b) => a + b, 0),
      );
      const auc = above.reduce((a, b) => a + b, 0) / clicks.length / others.length;
      const good = all.filter(
        ([p, label]) => Math.abs(p - label) < 0.5 || (Math.abs(p) === 0.5 && label === 0),
      );
      const order = pairs.map((_, i) => i).reverse();
      const report = await score(pairs, { isLabelled: round % 2 === 0, order: [...order, 0, 0] });
      expect(Math.abs(report.value - auc)).toBeLessThan(0.000_006);
      expect(report.scriptLine).toContain(
        `good=${good.length}, total=${all.length}, queries=${pairs.length}`,
      );
      // Only the order of the predictions counts.
      const scaled = pairs.map((sample) =>
        sample.map(([p, l]): [number, number] => [p * 8 + 1, l]),
      );
      expect((await score(scaled)).value).toBe(report.value);
    }
  });

  it('takes -0 and 0 for equal, and rounds a half to the even number', async () => {
    const report = await score([
      [
        [-0, 1],
        [0, 0],
        [0.5, 0],
        [0.5, 1],
        [1.5, 1],
        [-0.5, 0],
      ],
    ]);
    expect(report.scriptLine).toBe('AUC=77.778%, accuracy=50.000%, good=3, total=6, queries=1');
  });

  it('scores a part of the data set, and nothing', async () => {
    const pairs: [number, number][][] = [
      [[0.1, 0]],
      [
        [0.2, 0],
        [0.9, 1],
      ],
      [[0.5, 1]],
    ];
    expect(await score(pairs, { order: [1] })).toMatchObject({ value: 1, sampleCount: 1 });
    expect(await score(pairs, { order: [] })).toEqual({ metric: 'AUC', value: 0, sampleCount: 0 });
  });

  it.each([
    [
      'a wrong length',
      [Float32Array.of(1, 2, 3)],
      /sample 0 has 200 pairs: a response is 800 bytes .* or 1600 .* has 12/,
    ],
    ['an empty response', [new Float32Array(0)], /sample 0 has 200 pairs: .* this one has 0/],
    [
      'two forms',
      [new Float32Array(200), new Float32Array(400)],
      /sample 1 .* has 1600, and the log has 4 bytes/,
    ],
    ['NaN', [new Float32Array(200).fill(Number.NaN)], /sample 0, pair 0: the prediction is NaN/],
    ['one label only', [new Float32Array(200)], /all 200 pairs of the log have the label 0/],
    [
      'another label',
      [new Float32Array(400).fill(1)],
      /sample 0, pair 0: the log says the label 1, labels says 0 for row 0/,
    ],
  ])('refuses %s', async (_what, responses, message) => {
    const entries = responses.map(({ buffer }, sampleIndex) => ({
      sampleIndex,
      response: new Uint8Array(buffer),
    }));
    const known = { file: 'labels', labels: new Uint8Array(400) };
    await expect(scoreClicks(entries, makeAggregationTrace(400), known)).rejects.toThrow(message);
  });

  it.each([
    [new Float32Array(200), /the log has no labels, and the data set has none for row 0/],
    [new Float32Array(400).fill(0.5), /the label 0\.5 is not 0 or 1/],
  ])('needs labels', async ({ buffer }, message) => {
    const entries = [{ sampleIndex: 0, response: new Uint8Array(buffer) }];
    await expect(scoreClicks(entries, makeAggregationTrace(200), undefined)).rejects.toThrow(
      message,
    );
  });
});
