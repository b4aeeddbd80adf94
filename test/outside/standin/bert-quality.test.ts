import { beforeAll, describe, expect, it } from 'vitest';
import { benchmark as data } from '../../../loadgen-node/samples/benchmarks/bert/benchmark.ts';
import type { AccuracyEntry, DataSet } from '../../../loadgen-node/samples/data-set/data-set.ts';
import { SQUAD_STANDIN_F1 } from '../../../shared/benchmarks/standin/standin-squad.ts';
import { benchmark as sut } from '../../../sut-node/benchmarks/bert/benchmark.ts';
import { standinModel } from '../../../sut-node/benchmarks/bert/standin-graph.ts';
import { bertSizeOf } from '../../../sut-node/benchmarks/bert/standin-weights.ts';
import type { OutputTensor } from '../../../sut-node/model/model-facts.ts';
import { encodeModel, type ModelProto } from '../../../sut-node/model/onnx/graph-builder.ts';
import { loadOnnxRuntime, type OnnxRuntime } from '../../../sut-node/model/onnx/onnxruntime.ts';
import { testCacheFolder } from '../../scenes/host/folders.ts';

// Goal: the target of bert's generated data is what the stand-in reaches, whatever its size; a damaged model misses it.
// Method: the code of both nodes without a network, over the whole standard set. Takes a minute or two per model.

let ort: OnnxRuntime;
let dataSet: DataSet;

beforeAll(async () => {
  ort = await loadOnnxRuntime();
  const options = { cacheFolder: testCacheFolder(), onProgress: () => {} };
  dataSet = await data.openDataSet({ ...options, dataFolder: 'standin' });
});

/** F1 of a model whose samples may have any length. */
async function f1Of(model: ModelProto): Promise<number> {
  const session = await ort.InferenceSession.create(encodeModel(model));
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
  it('reaches the F1 that its data names', async () => {
    expect(await f1Of(standinModel(bertSizeOf(0.01), true))).toBeCloseTo(SQUAD_STANDIN_F1, 5);
  });

  it.each([
    { layers: 2, width: 128 },
    { layers: 2, width: 512 },
    { layers: 24, width: 128 },
  ])('meets the target in another size, $layers layers of $width', async (size) => {
    expect(await f1Of(standinModel(size, true))).toBeGreaterThan(0.99 * SQUAD_STANDIN_F1);
  });

  it.each([
    ['the table of words', 0],
    ['the queries of the second layer', 1],
  ])('misses the target where %s is rounded coarsely', async (_what, which) => {
    const size = bertSizeOf(0.01);
    const model = standinModel(size, true);
    const { initializer } = model.graph;
    const isSquare = ({ dims }: Constant): boolean =>
      dims.length === 2 && dims.every((length) => length === size.width);
    const words = initializer.find(({ dims }) => dims[0] === 30_522);
    // Four of each layer: query, key, value, output.
    roughen([words, initializer.filter(isSquare)[4]][which] as Constant);
    expect(await f1Of(model)).toBeLessThan(0.97 * SQUAD_STANDIN_F1);
  });
});

/** Rounds weights to a fifth of the largest one. */
function roughen({ raw_data: bytes }: Constant): void {
  const values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const step = values.reduce((max, value) => Math.max(max, Math.abs(value)), 0) / 5;
  for (const [i, value] of values.entries()) values[i] = Math.round(value / step) * step;
}

type Constant = ModelProto['graph']['initializer'][number];
