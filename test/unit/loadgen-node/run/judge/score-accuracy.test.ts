import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AccuracyOutcome } from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import { scoreAccuracy } from '../../../../../loadgen-node/run/judge/score-accuracy.ts';
import { syntheticDataSet } from '../../../../../loadgen-node/samples/benchmarks/synthetic/synthetic-benchmark.ts';
import type { DataSet } from '../../../../../loadgen-node/samples/data-set/data-set.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: an accuracy is of the whole data set or there is none, and the verdict says why.
// Method: accuracy logs written by hand for three samples; a response of a byte is right.
const THREE = syntheticDataSet({
  ...{ name: 'three', sampleBytes: 1, sampleCount: 3, metric: 'answered' },
  isRight: (response) => response.length === 1,
});

const WHOLE = {
  ...{ endCause: 'all-issued', counts: { lostSamples: 0 }, setsRun: 1, setCount: 1 },
} as unknown as AccuracyOutcome;

function entry(sampleIndex: number, data = '01'): string {
  return `{ "seq_id" : ${sampleIndex}, "qsl_idx" : ${sampleIndex}, "data" : "${data}" }`;
}

function score(text: string, dataSet: DataSet = THREE, accuracy: AccuracyOutcome | null = WHOLE) {
  const accuracyLogPath = join(tempFolder(), 'mlperf_log_accuracy.json');
  writeFileSync(accuracyLogPath, text);
  return scoreAccuracy(dataSet, { accuracy, accuracyLogPath });
}

const log = (...entries: string[]): string => `[\n${entries.join(',\n')}\n]\n`;

describe('scoreAccuracy', () => {
  it('reports of a log with every sample', async () => {
    expect(await score(log(entry(0), entry(1, '0102'), entry(2)))).toEqual({
      report: { metric: 'answered', value: 2 / 3, correctCount: 2, sampleCount: 3 },
    });
  });

  it('judges no log on the samples that it has', async () => {
    expect(await score(log(entry(0), entry(2), entry(2)))).toEqual({
      problem: {
        rule: 'accuracy-samples',
        text: "The accuracy log lacks samples: it has responses to 2 of the data set's 3.",
        ...{ needed: '3 samples', seen: '2 samples' },
      },
    });
  });

  it.each([
    [
      'cut off',
      '[\n',
      /^There is no accuracy: the accuracy log .* is damaged at line 1 \(byte 2\): .*cut off\.$/,
    ],
    [
      'no log',
      'x\n',
      /^There is no accuracy: the accuracy log .* is damaged at line 1 \(byte 0\): unexpected "x"\.$/,
    ],
  ])('says of a log that is damaged, %s, that it is', async (_case, text, message) => {
    const { report, problem } = await score(text);
    expect(report).toBeUndefined();
    expect(problem).toMatchObject({ rule: 'accuracy-log', text: expect.stringMatching(message) });
  });

  it('says of a log that is not there that it cannot be read', async () => {
    const { problem } = await scoreAccuracy(THREE, {
      ...{ accuracy: WHOLE, accuracyLogPath: '/nowhere/log.json' },
    });
    expect(problem).toMatchObject({
      rule: 'accuracy-log',
      text: expect.stringContaining('cannot read the accuracy log /nowhere/log.json'),
    });
  });

  it('says of a response that is no answer that it is none', async () => {
    const { problem } = await score(log(entry(0), entry(3)));
    expect(problem).toMatchObject({
      rule: 'response-form',
      text: 'A response is no answer to this benchmark: a response for sample 3; the data set has the samples 0 to 2.',
    });
  });

  it('does not take an error of another kind for one of the log', async () => {
    const broken = {
      ...{ name: 'x', folder: '', totalSampleCount: 1, readPayload: () => Promise.reject() },
      scoreAccuracy: () => {
        throw new TypeError('a bug');
      },
    };
    await expect(score(log(entry(0)), broken)).rejects.toThrow('a bug');
  });

  it.each<[string, boolean, string]>([
    ['comes while it scores ends it', false, 'ended by the signal'],
    ['came before does not', true, 'scored to the end'],
  ])('a signal that %s', async (_case, isBefore, told) => {
    const controller = new AbortController();
    const end = () => controller.abort(new Error('ended by the signal'));
    if (isBefore) end();
    const accuracyLogPath = join(tempFolder(), 'mlperf_log_accuracy.json');
    writeFileSync(accuracyLogPath, log(entry(0)));
    const long: DataSet = {
      ...THREE,
      scoreAccuracy: async (_entries, turns) => {
        await turns?.take();
        end();
        await turns?.take();
        throw new Error('scored to the end');
      },
    };
    const test = { accuracy: WHOLE, accuracyLogPath };
    await expect(scoreAccuracy(long, test, controller.signal)).rejects.toThrow(told);
  });

  it.each<[string, AccuracyOutcome | null]>([
    ['no accuracy run', null],
    ['lost samples', { ...WHOLE, counts: { ...WHOLE.counts, lostSamples: 1 } }],
    ['an interrupted run', { ...WHOLE, setsRun: 0 }],
  ])('scores nothing of %s', async (_case, accuracy) => {
    expect(await score('no log', THREE, accuracy)).toEqual({});
  });
});
