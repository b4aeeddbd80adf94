import type { InferenceSession } from 'onnxruntime-node';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadgenBenchmark } from '../../../loadgen-node/samples/benchmarks/registry.ts';
import type { AccuracyEntry, DataSet } from '../../../loadgen-node/samples/data-set/data-set.ts';
import { EVALUATION_SET } from '../../../shared/rules/cards/digits.ts';
import { sutBenchmark } from '../../../sut-node/benchmarks/registry.ts';
import type { PipelineInput } from '../../../sut-node/model/model-facts.ts';
import { loadOnnxRuntime, type OnnxRuntime } from '../../../sut-node/model/onnx/onnxruntime.ts';
import { testCacheFolder } from '../../scenes/host/folders.ts';
import { digitsPipeline } from '../../scenes/simulated-run/sut-parts.ts';

// Goal: the example model, as it is shipped, reads the example data set as well as its rules say,
// through the code of both nodes and in both forms; no more, or accuracy tests would have nothing
// to find. Method: the whole way without a network: prepareModel, openDataSet, preprocess, session,
// postprocess, scoreAccuracy. Images are drawn once per machine (see testCacheFolder).
const BATCH_SIZE = 48;

/** The data set takes 2 s on an idle machine of two cores; several times that beside other work. */
const PREPARE_TIMEOUT_MS = 120_000;
const RUN_TIMEOUT_MS = 60_000;

const benchmark = await sutBenchmark('digits');
const pipeline = digitsPipeline();
let ort: OnnxRuntime;
let dataSet: DataSet;
let session: InferenceSession;

async function answer(first: number, form: string): Promise<AccuracyEntry[]> {
  const count = Math.min(BATCH_SIZE, dataSet.totalSampleCount - first);
  const [{ name, sampleShape }] = pipeline.inputs as [PipelineInput];
  const elementCount = sampleShape.reduce((product, length) => product * length, 1);
  const input = new Float32Array(count * elementCount);
  for (let row = 0; row < count; row += 1) {
    const payload = await dataSet.readPayload(first + row, form);
    const target = input.subarray(row * elementCount, (row + 1) * elementCount);
    await pipeline.preprocess(payload, form, [target]);
  }
  const tensor = new ort.Tensor('float32', input, [count, ...sampleShape]);
  const results = await session.run({ [name]: tensor }, [...pipeline.outputNames]);
  const outputs = new Map(
    Object.entries(results).map(([key, { data, dims }]) => [
      key,
      { data: data as BigInt64Array, dims },
    ]),
  );
  return Array.from({ length: count }, (_, row) => ({
    sampleIndex: first + row,
    response: pipeline.postprocess(outputs, row),
  }));
}

beforeAll(async () => {
  const options = { cacheFolder: testCacheFolder(), onProgress: () => undefined };
  const modelFile = await benchmark.prepareModel({ ...options, model: 'example' });
  const { openDataSet } = await loadgenBenchmark('digits');
  dataSet = await openDataSet({ ...options, dataFolder: undefined });
  ort = await loadOnnxRuntime();
  session = await ort.InferenceSession.create(modelFile);
}, PREPARE_TIMEOUT_MS);

describe('the example model of digits', () => {
  it('has the input and the output that its benchmark names, with a free batch axis', () => {
    const [{ name, sampleShape }] = pipeline.inputs as [PipelineInput];
    expect(session.inputMetadata).toEqual([
      expect.objectContaining({ name, type: 'float32', shape: ['N', ...sampleShape] }),
    ]);
    expect(session.outputNames).toEqual(expect.arrayContaining([...pipeline.outputNames]));
  });

  it.each(['jpeg', 'raw'])(
    'reads between 93 and 99 of 100 unseen images in the form %s',
    async (form) => {
      const entries: AccuracyEntry[] = [];
      for (let first = 0; first < dataSet.totalSampleCount; first += BATCH_SIZE) {
        entries.push(...(await answer(first, form)));
      }
      const report = await dataSet.scoreAccuracy(entries);
      expect(report.sampleCount).toBe(EVALUATION_SET.sampleCount);
      expect(report.value).toBeGreaterThanOrEqual(benchmark.rules.quality.target);
      expect(report.value).toBeLessThan(0.99);
    },
    RUN_TIMEOUT_MS,
  );
});
