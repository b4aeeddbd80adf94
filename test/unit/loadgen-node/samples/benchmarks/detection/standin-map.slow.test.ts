import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { benchmark as retinanet } from '../../../../../../loadgen-node/samples/benchmarks/retinanet/benchmark.ts';
import { benchmark as ssdMobilenet } from '../../../../../../loadgen-node/samples/benchmarks/ssd-mobilenet/benchmark.ts';
import { benchmark as ssdResnet34 } from '../../../../../../loadgen-node/samples/benchmarks/ssd-resnet34/benchmark.ts';
import type {
  AccuracyEntry,
  DataSet,
} from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { benchmark as retinanetSut } from '../../../../../../sut-node/benchmarks/retinanet/benchmark.ts';
import { benchmark as ssdMobilenetSut } from '../../../../../../sut-node/benchmarks/ssd-mobilenet/benchmark.ts';
import { benchmark as ssdResnet34Sut } from '../../../../../../sut-node/benchmarks/ssd-resnet34/benchmark.ts';
import type { SutBenchmark } from '../../../../../../sut-node/benchmarks/sut-benchmark.ts';
import {
  isStepwise,
  type ModelPipeline,
  type StepwisePipeline,
} from '../../../../../../sut-node/model/model-facts.ts';
import { createOrtSession } from '../../../../../../sut-node/model/onnx/ort-session.ts';
import { DEFAULT_RUNTIME } from '../../../../../../sut-node/settings/model-settings.ts';
import { tempFolder, testCacheFolder } from '../../../../../scenes/host/folders.ts';

// Goal: the mAP that the targets of the drawn images stand on is what the stand-ins reach on them;
// it falls when images are damaged, and its cost changes nothing. Method: the models on ONNX
// Runtime, through the code that serves them.

async function answers(
  sut: SutBenchmark<ModelPipeline | StepwisePipeline>,
  cost: number,
  dataSet: DataSet,
  count: number,
  { rowCount = 1, change = (image: Uint8Array) => image } = {},
): Promise<AccuracyEntry[]> {
  const modelFile = join(tempFolder(), 'model.onnx');
  const [model] = Object.values(sut.standin?.make('standin', cost) ?? {});
  writeFileSync(modelFile, model as Uint8Array);
  const sha256 = createHash('sha256').update(readFileSync(modelFile)).digest('hex');
  const session = await createOrtSession({ modelFile, sha256, runtime: DEFAULT_RUNTIME });
  const pipeline = sut.openPipeline({ file: modelFile, ...session.tensors }, {});
  const entries: AccuracyEntry[] = [];
  for (let sampleIndex = 0; sampleIndex < count; sampleIndex += rowCount) {
    const payloads: Uint8Array[] = [];
    for (let row = 0; row < rowCount; row += 1) {
      payloads.push(change(await dataSet.readPayload(sampleIndex + row, 'uint8')));
    }
    if (isStepwise(pipeline)) {
      const samples = payloads.map((payload) => ({ payload, form: 'uint8' }));
      const [response] = await pipeline.answer(samples, session.run);
      if (!(response instanceof Uint8Array)) throw response;
      entries.push({ sampleIndex, response });
      continue;
    }
    const inputs = pipeline.inputs.map(({ name, elementType, sampleShape }) => {
      const data = new Uint8Array(Buffer.concat(payloads));
      return { name, elementType, data, dims: [rowCount, ...sampleShape] };
    });
    const outputs = await session.run(inputs, pipeline.outputNames);
    for (let row = 0; row < rowCount; row += 1) {
      const response = pipeline.postprocess(outputs, row);
      entries.push({ sampleIndex: sampleIndex + row, response });
    }
  }
  return entries;
}

const CASES = [
  { name: 'retinanet', data: retinanet, sut: retinanetSut },
  { name: 'ssd-mobilenet', data: ssdMobilenet, sut: ssdMobilenetSut },
  { name: 'ssd-resnet34', data: ssdResnet34, sut: ssdResnet34Sut },
];

describe.each(CASES)('the stand-in for $name', ({ data, sut }) => {
  let dataSet: DataSet;

  beforeAll(async () => {
    const onProgress = () => undefined;
    const cacheFolder = testCacheFolder();
    dataSet = await data.openDataSet({ dataFolder: 'standin', cacheFolder, onProgress });
  }, 120_000);

  const answer = (cost: number, count: number, change?: (image: Uint8Array) => Uint8Array) =>
    answers(sut, cost, dataSet, count, change === undefined ? {} : { change });

  it('has the mAP that its target says, on all standard images', async () => {
    const entries = await answer(0.01, dataSet.totalSampleCount);
    const { value } = await dataSet.scoreAccuracy(entries);
    expect(Math.abs(value - (dataSet.quality?.reference?.value ?? 0)), String(value)).toBeLessThan(
      0.001,
    );
    expect(dataSet.quality?.target).toBeLessThan(value);
    expect(value).toBeLessThan(0.9);
  }, 300_000);

  it('finds less in damaged images', async () => {
    const { value: before } = await dataSet.scoreAccuracy(await answer(0.01, 16));
    const damaged = await answer(0.01, 16, (image) => image.map((byte) => byte & 0xe0));
    const { value: after } = await dataSet.scoreAccuracy(damaged);
    expect(before).toBeLessThan(1);
    expect(after).toBeLessThan(before * 0.75);
  }, 120_000);

  it('answers the same at any cost', async () => {
    expect(await answer(0.03, 3)).toEqual(await answer(0.01, 3));
  }, 120_000);
});

describe('the stand-in for ssd-mobilenet in batches', () => {
  it('answers each image as alone', async () => {
    const onProgress = () => undefined;
    const cacheFolder = testCacheFolder();
    const open = { dataFolder: 'standin', cacheFolder, onProgress };
    const dataSet = await ssdMobilenet.openDataSet(open);
    const alone = await answers(ssdMobilenetSut, 0.01, dataSet, 6);
    expect(await answers(ssdMobilenetSut, 0.01, dataSet, 6, { rowCount: 3 })).toEqual(alone);
  }, 120_000);
});
