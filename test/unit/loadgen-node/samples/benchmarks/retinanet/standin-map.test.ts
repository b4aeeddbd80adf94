import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  benchmark,
  STANDIN_MAP,
} from '../../../../../../loadgen-node/samples/benchmarks/retinanet/benchmark.ts';
import type {
  AccuracyEntry,
  DataSet,
} from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { benchmark as sut } from '../../../../../../sut-node/benchmarks/retinanet/benchmark.ts';
import { standinModel } from '../../../../../../sut-node/benchmarks/retinanet/standin-graph.ts';
import {
  encodeModel,
  type ModelProto,
} from '../../../../../../sut-node/model/onnx/graph-builder.ts';
import { createOrtSession } from '../../../../../../sut-node/model/onnx/ort-session.ts';
import { DEFAULT_RUNTIME } from '../../../../../../sut-node/settings/model-settings.ts';
import { tempFolder, testCacheFolder } from '../../../../../scenes/host/folders.ts';

// Goal: the mAP that the target of the drawn images stands on is what the stand-in reaches on them; it falls when the model is
// damaged, and its cost changes nothing. Method: the model on ONNX Runtime, through the code that serves it.

let dataSet: DataSet;

beforeAll(async () => {
  const onProgress = () => undefined;
  const cacheFolder = testCacheFolder();
  dataSet = await benchmark.openDataSet({ dataFolder: 'standin', cacheFolder, onProgress });
}, 120_000);

async function answers(model: ModelProto, count: number): Promise<AccuracyEntry[]> {
  const modelFile = join(tempFolder(), 'model.onnx');
  writeFileSync(modelFile, encodeModel(model));
  const sha256 = createHash('sha256').update(readFileSync(modelFile)).digest('hex');
  const session = await createOrtSession({ modelFile, sha256, runtime: DEFAULT_RUNTIME });
  const pipeline = sut.openPipeline({ file: modelFile, ...session.tensors }, {});
  const entries: AccuracyEntry[] = [];
  for (let sampleIndex = 0; sampleIndex < count; sampleIndex += 1) {
    const payload = await dataSet.readPayload(sampleIndex, 'uint8');
    const [response] = await pipeline.answer([{ payload, form: 'uint8' }], session.run);
    if (!(response instanceof Uint8Array)) throw response;
    entries.push({ sampleIndex, response });
  }
  return entries;
}

describe('the stand-in for RetinaNet', () => {
  it('has the mAP that its target says, on all standard images', async () => {
    const entries = await answers(standinModel(0.01), dataSet.totalSampleCount);
    const { value } = await dataSet.scoreAccuracy(entries);
    expect(Math.abs(value - STANDIN_MAP)).toBeLessThan(0.001);
    expect(dataSet.quality?.target).toBeLessThan(value);
  }, 300_000);

  it('finds less when six of its twelve colours are lost', async () => {
    const whole = standinModel(0.01);
    const damaged = standinModel(0.01);
    const colours = damaged.graph.initializer.find(({ dims }) => dims.join() === '12,6,1,1');
    colours?.raw_data.fill(0, 0, 6 * 6 * 4);
    const { value: before } = await dataSet.scoreAccuracy(await answers(whole, 16));
    const { value: after } = await dataSet.scoreAccuracy(await answers(damaged, 16));
    expect(before).toBeLessThan(1);
    expect(after).toBeLessThan(before * 0.75);
  }, 120_000);

  it('answers the same at any cost', async () => {
    expect(await answers(standinModel(0.03), 3)).toEqual(await answers(standinModel(0.01), 3));
  }, 120_000);
});
