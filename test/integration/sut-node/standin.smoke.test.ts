import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { InferenceSession } from 'onnxruntime-node';
import { beforeAll, describe, expect, it } from 'vitest';
import { drawClass } from '../../../loadgen-node/samples/benchmarks/imagenet/draw-class.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import {
  decodeImagenetJpeg,
  normaliseImagenet,
} from '../../../shared/benchmarks/image/imagenet.ts';
import { IMAGENET_ELEMENTS, STANDIN_EVALUATION_SET } from '../../../shared/rules/cards/imagenet.ts';
import { imagenetStandin } from '../../../sut-node/benchmarks/imagenet/standin.ts';
import { sutBenchmark } from '../../../sut-node/benchmarks/registry.ts';
import { loadOnnxRuntime, type OnnxRuntime } from '../../../sut-node/model/onnx/onnxruntime.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';

// Goal: a stand-in looks like the model that it stands in for, reads what is planted in images, in
// FP32 and in int8, and is the same whenever it is made. Method: a trunk of a hundredth of the
// cost; the full one is measured by `npm run test:outside standin`.
const MEASURED_COUNT = 26;
const BATCH_SIZE = 13;
const COST = 0.01;

let runtime: OnnxRuntime;
let files: Readonly<Record<'fp32' | 'int8', Uint8Array>>;
const sessions = new Map<string, InferenceSession>();
const input = new Float32Array(MEASURED_COUNT * IMAGENET_ELEMENTS);
const labels: number[] = [];

beforeAll(async () => {
  runtime = await loadOnnxRuntime();
  const standin = imagenetStandin('resnet50');
  const made = (word: string): Uint8Array =>
    standin.make(word, COST)[`${standin.words[word]}.onnx`] as Uint8Array;
  files = { fp32: made('standin'), int8: made('standin-int8') };
  for (const precision of ['fp32', 'int8'] as const) {
    sessions.set(precision, await runtime.InferenceSession.create(files[precision]));
  }
  for (let i = 0; i < MEASURED_COUNT; i += 1) {
    const { content: label, jpeg } = await drawClass(STANDIN_EVALUATION_SET, i);
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

  it.each(['fp32', 'int8'])(
    'reads the class in %s, the same whatever the batch',
    async (precision) => {
      const classes = await classesOf(precision, 1);
      const wrong = classes.flatMap((told, i) => (told === labels[i] ? [] : [i]));
      expect(wrong).toEqual([24]);
      expect(await classesOf(precision, BATCH_SIZE)).toEqual(classes);
    },
  );

  it('says in its file what it is', () => {
    for (const file of Object.values(files)) {
      const text = Buffer.from(file).toString('latin1');
      expect(text).toContain('STAND-IN for ResNet-50 v1.5');
      expect(text).toContain('longhaul_role');
    }
  });
});

describe('making a stand-in', () => {
  it('gives the same bytes each time', () => {
    const digest = (): string => {
      const { 'mobilenet-standin-int8.onnx': bytes } = imagenetStandin('mobilenet').make(
        'standin-int8',
        COST,
      );
      return createHash('sha256')
        .update(bytes as Uint8Array)
        .digest('hex');
    };
    expect(digest()).toBe(digest());
  });

  it('ends soon, and leaves nothing, where whoever waits for it gives up', async () => {
    const cacheFolder = suiteFolder();
    const told: string[] = [];
    const { prepareModel } = await sutBenchmark('mobilenet');
    const making = prepareModel({
      model: 'standin',
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
