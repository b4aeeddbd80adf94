import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { InferenceSession } from 'onnxruntime-node';
import { beforeAll, describe, expect, it } from 'vitest';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import {
  decodeImagenetJpeg,
  normaliseImagenet,
} from '../../../shared/benchmarks/image/imagenet.ts';
import { makeStandinImage } from '../../../shared/benchmarks/standin/standin-image.ts';
import { IMAGENET_ELEMENTS, STANDIN_EVALUATION_SET } from '../../../shared/rules/cards/imagenet.ts';
import {
  ensureStandinModels,
  makeStandin,
} from '../../../sut-node/benchmarks/imagenet/standin-models.ts';
import { encodeModel, type ModelProto } from '../../../sut-node/model/onnx/graph-builder.ts';
import { loadOnnxRuntime, type OnnxRuntime } from '../../../sut-node/model/onnx/onnxruntime.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';

// Goal: a stand-in looks like the model that it stands in for, reads images that it was not fitted on, in FP32
// and in int8, and is the same whenever it is made.
// Method: a toy (a trunk of a sixteenth of the channels) with the fitted numbers of the full one, which is measured by
// `npm run test:outside standin`.
const MEASURED_COUNT = 24;
const BATCH_SIZE = 8;

/** The full stand-in reads 0.96 of all images. */
const ACCURACY_MIN = 0.87;
/** Images of {@link MEASURED_COUNT} on which int8 may say something else. */
const OTHERS_MAX = 4;

let runtime: OnnxRuntime;
let files: Readonly<Record<'fp32' | 'int8', Uint8Array>>;
const sessions = new Map<string, InferenceSession>();
const input = new Float32Array(MEASURED_COUNT * IMAGENET_ELEMENTS);
const labels: number[] = [];

beforeAll(async () => {
  runtime = await loadOnnxRuntime();
  const paths = await ensureStandinModels({
    ...{ benchmark: 'resnet50', cacheFolder: suiteFolder(), onProgress: () => {} },
    width: 1 / 16,
  });
  files = { fp32: readFileSync(paths.fp32), int8: readFileSync(paths.int8) };
  for (const precision of ['fp32', 'int8'] as const) {
    expect(basename(paths[precision])).toBe(`resnet50-standin-${precision}.onnx`);
    sessions.set(precision, await runtime.InferenceSession.create(paths[precision]));
  }
  for (let i = 0; i < MEASURED_COUNT; i += 1) {
    const { label, jpeg } = await makeStandinImage(STANDIN_EVALUATION_SET, i);
    const target = input.subarray(i * IMAGENET_ELEMENTS, (i + 1) * IMAGENET_ELEMENTS);
    normaliseImagenet(await decodeImagenetJpeg(jpeg), target, 'vgg', 'nchw');
    labels.push(label);
  }
});

/** Classes that a model tells, without the background class. */
async function classesOf(precision: string, batchSize: number): Promise<number[]> {
  const session = sessions.get(precision) as InferenceSession;
  const classes: number[] = [];
  for (let first = 0; first < MEASURED_COUNT; first += batchSize) {
    const rows = input.subarray(first * IMAGENET_ELEMENTS, (first + batchSize) * IMAGENET_ELEMENTS);
    const feed = new runtime.Tensor('float32', rows, [batchSize, 3, 224, 224]);
    const outputs = await session.run({ 'input_tensor:0': feed });
    const told = outputs['ArgMax:0']?.data as BigInt64Array;
    expect(outputs['softmax_tensor:0']?.dims).toEqual([batchSize, 1001]);
    classes.push(...Array.from(told, (label) => Number(label) - 1));
  }
  return classes;
}

function accuracyOf(classes: readonly number[]): number {
  return classes.filter((told, i) => told === labels[i]).length / classes.length;
}

describe('the stand-in for ResNet-50', () => {
  it.each(['fp32', 'int8'])('has the inputs and outputs of the reference in %s', (precision) => {
    const session = sessions.get(precision) as InferenceSession;
    expect(session.inputMetadata).toMatchObject([
      { name: 'input_tensor:0', type: 'float32', shape: ['N', 3, 224, 224] },
    ]);
    expect(session.outputMetadata).toMatchObject([
      { name: 'ArgMax:0', type: 'int64', shape: ['N'] },
      { name: 'softmax_tensor:0', type: 'float32', shape: ['N', 1001] },
    ]);
  });

  it('reads images that it was not fitted on, and the same whatever the batch', async () => {
    const classes = await classesOf('fp32', 1);
    expect(accuracyOf(classes)).toBeGreaterThan(ACCURACY_MIN);
    expect(await classesOf('fp32', BATCH_SIZE)).toEqual(classes);
  });

  it('reads nearly the same in int8, from a file of a third or less', async () => {
    const [fp32, int8] = [await classesOf('fp32', BATCH_SIZE), await classesOf('int8', BATCH_SIZE)];
    expect(accuracyOf(int8)).toBeGreaterThan(ACCURACY_MIN);
    expect(int8.filter((told, i) => told !== fp32[i]).length).toBeLessThanOrEqual(OTHERS_MAX);
    expect(files.int8.length).toBeLessThan(files.fp32.length * 0.4);
  });

  it('says in its file what it is', () => {
    for (const file of Object.values(files)) {
      const text = Buffer.from(file).toString('latin1');
      expect(text).toContain('STAND-IN for ResNet-50 v1.5');
      expect(text).toContain('longhaul_role');
    }
  });
});

describe('making a stand-in', () => {
  it('gives the bytes that accuracies in documents were measured with', () => {
    const { fp32, int8 } = makeStandin('mobilenet', 1);
    const digestOf = (model: ModelProto): string =>
      createHash('sha256').update(encodeModel(model)).digest('hex');
    expect([digestOf(fp32), digestOf(int8)]).toEqual([
      '40b46aa6bc51e8c267cc78e7aa426e24cdf63afd70c8b6bbd6d6ae3ca231902a',
      'b46d29a719529e7c546ca24494f004d58a31b74ce9489ce7fb9a7948100a10b5',
    ]);
  });

  it('ends soon, and leaves nothing, where whoever waits for it gives up', async () => {
    const cacheFolder = suiteFolder();
    const told: string[] = [];
    const making = ensureStandinModels({
      benchmark: 'mobilenet',
      cacheFolder,
      onProgress: (_fraction, what) => {
        told.push(what);
        if (told.length > 1) throw new MlperfError('ERR_INTERRUPTED', 'given up');
      },
    });
    await expect(making).rejects.toThrow('given up');
    expect(new Set(told)).toEqual(new Set(['making the stand-in for MobileNet v1 1.0 224']));
    expect(readdirSync(cacheFolder)).toEqual([]);
  });
});

describe('the trunk of a stand-in', () => {
  it('takes part in the scores, but never decides', async () => {
    const session = sessions.get('fp32') as InferenceSession;
    const feed = new runtime.Tensor('float32', input.slice(0, IMAGENET_ELEMENTS), [1, 3, 224, 224]);
    const outputs = await session.run({ 'input_tensor:0': feed });
    const scores = outputs['softmax_tensor:0']?.data as Float32Array;
    // Classes that the branch does not know have one score from it: what differs comes from the trunk.
    const unknown = new Set(scores.subarray(11));
    expect(unknown.size).toBeGreaterThan(1);
    expect(Math.max(...unknown)).toBeLessThan(1e-6);
  });
});
