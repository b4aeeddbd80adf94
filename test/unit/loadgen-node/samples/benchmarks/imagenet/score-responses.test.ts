import { describe, expect, it } from 'vitest';
import { scoreResponses } from '../../../../../../loadgen-node/samples/benchmarks/imagenet/imagenet-data-set.ts';
import { formatScriptLine } from '../../../../../../loadgen-node/samples/benchmarks/score-each.ts';

// Goal: the accuracy is that of MLCommons' accuracy-imagenet.py, to the letter of its line. Method:
// logs whose result can be told by hand, in each type that the script reads.
const LABELS = Uint16Array.of(65, 0, 999, 1);

function float32(value: number): Uint8Array {
  return new Uint8Array(Float32Array.of(value).buffer);
}

function int32(value: number): Uint8Array {
  return new Uint8Array(Int32Array.of(value).buffer);
}

function int64(value: number): Uint8Array {
  return new Uint8Array(BigInt64Array.of(BigInt(value)).buffer);
}

type Entry = readonly [sampleIndex: number, response: Uint8Array];

function score(...entries: readonly Entry[]) {
  const log = entries.map(([sampleIndex, response]) => ({ sampleIndex, response }));
  return scoreResponses(log, LABELS, 'top-1');
}

describe('scoreResponses', () => {
  it.each([
    ['float32', float32],
    ['int32', int32],
    ['int64', int64],
  ])('reads classes as %s', async (_type, encode) => {
    expect(await score([0, encode(65)], [1, encode(0)], [2, encode(998)], [3, encode(1)])).toEqual({
      ...{ metric: 'top-1', value: 0.75, correctCount: 3, sampleCount: 4 },
      scriptLine: 'accuracy=75.000%, good=3, total=4',
    });
  });

  it('counts the first response of a sample', async () => {
    const report = await score([0, float32(64)], [0, float32(65)], [1, float32(0)]);
    expect(report.scriptLine).toBe('accuracy=50.000%, good=1, total=2');
  });

  it('takes classes that there are not as wrong answers, and cuts fractions off', async () => {
    const report = await score([0, float32(-1)], [1, float32(1000)], [2, float32(999.7)]);
    expect(report.scriptLine).toBe('accuracy=33.333%, good=1, total=3');
  });

  it.each([
    ['is no number', [[0, float32(Number.NaN)]], /sample 0: .* one number.* 0000c07f/],
    ['is empty', [[2, new Uint8Array(0)]], /sample 2: .* this one has 0 bytes/],
    ['is a list', [[1, new Uint8Array(4000)]], /sample 1: .* this one has 4000 bytes/],
    ['is for no sample', [[4, float32(1)]], /for sample 4; the data set has the samples 0 to 3/],
    [
      'is of another type than the others',
      [
        [0, float32(65)],
        [1, float32(0)],
        [2, int32(999)],
      ],
      /sample 2: a response as int32 after others as float32/,
    ],
    [
      'is 0 in 4 bytes before others in 8',
      [
        [1, float32(0)],
        [0, int64(65)],
      ],
      /sample 0: a response as int64 after others as float32 or int32/,
    ],
    [
      'is 0 in 4 bytes after others in 8',
      [
        [0, int64(65)],
        [1, int32(0)],
      ],
      /sample 1: a response as float32 or int32 after others as int64/,
    ],
  ] as const)('refuses a response that %s', async (_case, entries, message) => {
    await expect(score(...entries)).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET', message: expect.stringMatching(message) }),
    );
  });
});

describe("the script's line", () => {
  it.each([
    [38_230, 50_000, 'accuracy=76.460%, good=38230, total=50000'],
    [1, 3, 'accuracy=33.333%, good=1, total=3'],
    [0, 7, 'accuracy=0.000%, good=0, total=7'],
    [7, 7, 'accuracy=100.000%, good=7, total=7'],
    // 12.0625 exactly: Python rounds the tie to the even digit.
    [193, 1600, 'accuracy=12.062%, good=193, total=1600'],
  ])('of %s out of %s is as Python prints it', (correct, total, line) => {
    expect(formatScriptLine(correct, total)).toBe(line);
  });
});
