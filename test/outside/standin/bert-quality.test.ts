import { beforeAll, describe, expect, it } from 'vitest';
import { benchmark as data } from '../../../loadgen-node/samples/benchmarks/bert/benchmark.ts';
import type { AccuracyEntry, DataSet } from '../../../loadgen-node/samples/data-set/data-set.ts';
import { SQUAD_STANDIN_F1 } from '../../../shared/benchmarks/standin/standin-squad.ts';
import { benchmark as sut } from '../../../sut-node/benchmarks/bert/benchmark.ts';
import { BERT_STANDIN } from '../../../sut-node/benchmarks/bert/standin.ts';
import type { OutputTensor } from '../../../sut-node/model/model-facts.ts';
import { loadOnnxRuntime, type OnnxRuntime } from '../../../sut-node/model/onnx/onnxruntime.ts';
import { testCacheFolder } from '../../scenes/host/folders.ts';

// Goal: the target of bert's generated data is what the stand-in reaches, whatever its cost;
// damaged samples miss it. Method: the code of both nodes without a network, over the whole
// standard set. Takes a minute or two per model.

let ort: OnnxRuntime;
let dataSet: DataSet;

beforeAll(async () => {
  ort = await loadOnnxRuntime();
  const options = { cacheFolder: testCacheFolder(), onProgress: () => {} };
  dataSet = await data.openDataSet({ ...options, dataFolder: 'standin' });
});

/** F1 of a model whose samples may have any length. @param damage Of the ids of a sample. */
async function f1Of(cost: number, damage = (_ids: BigInt64Array) => {}): Promise<number> {
  const [model] = Object.values(BERT_STANDIN.make('standin-free', cost));
  const session = await ort.InferenceSession.create(model as Uint8Array);
  const names = ['input_ids', 'input_mask', 'segment_ids'];
  const tensors = (some: readonly string[], elementType: string) =>
    some.map((name) => ({ name, elementType, shape: [-1, -1] }));
  const outputNames = ['output_start_logits', 'output_end_logits'];
  const pipeline = sut.openPipeline(
    { file: 'm', inputs: tensors(names, 'int64'), outputs: tensors(outputNames, 'float') },
    {},
  );
  const entries: AccuracyEntry[] = [];
  for (let sampleIndex = 0; sampleIndex < dataSet.totalSampleCount; sampleIndex += 1) {
    const payload = await dataSet.readPayload(sampleIndex, 'ids');
    const length = pipeline.lengthOf?.(payload, 'ids') ?? 0;
    const targets = names.map(() => new BigInt64Array(length));
    await pipeline.preprocess(payload, 'ids', targets);
    damage(targets[0] as BigInt64Array);
    const feeds = names.map((name, i) => [
      name,
      new ort.Tensor('int64', targets[i] as BigInt64Array, [1, length]),
    ]);
    const results = await session.run(Object.fromEntries(feeds), outputNames);
    const outputs = new Map(Object.entries(results)) as unknown as Map<string, OutputTensor>;
    entries.push({ sampleIndex, response: pipeline.postprocess(outputs, 0) });
  }
  const { value, sampleCount } = await dataSet.scoreAccuracy(entries);
  expect(sampleCount).toBe(dataSet.totalSampleCount);
  return value;
}

describe('the stand-in for BERT', () => {
  it.each([0.01, 0.02])('reaches the F1 that its data names, at %d of the cost', async (cost) => {
    expect(await f1Of(cost)).toBeCloseTo(SQUAD_STANDIN_F1, 5);
  });

  it('misses the target where every tenth token is lost', async () => {
    const f1 = await f1Of(0.01, (ids) => {
      for (let i = 0; i < ids.length; i += 10) ids[i] = 100n;
    });
    expect(f1).toBeLessThan(0.97 * SQUAD_STANDIN_F1);
  });
});
