import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { benchmark as data } from '../../../../../loadgen-node/samples/benchmarks/dlrm-v2/benchmark.ts';
import type { DataSet } from '../../../../../loadgen-node/samples/data-set/data-set.ts';
import { STANDIN_AUC } from '../../../../../shared/benchmarks/dlrm-v2/standin-teacher.ts';
import { benchmark } from '../../../../../sut-node/benchmarks/dlrm-v2/benchmark.ts';
import { standinModel } from '../../../../../sut-node/benchmarks/dlrm-v2/standin-graph.ts';
import { fileDigest } from '../../../../../sut-node/model/model-file.ts';
import { encodeModel, type ModelProto } from '../../../../../sut-node/model/onnx/graph-builder.ts';
import { createOrtSession } from '../../../../../sut-node/model/onnx/ort-session.ts';
import { DEFAULT_RUNTIME } from '../../../../../sut-node/settings/model-settings.ts';
import { suiteFolder, tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: the stand-in's AUC is what its task allows, below 100 %, falls where any part of it is damaged, and is that of the standard
// data set in the rules. Method: models with one kind of layer set to zero, on 40 samples; the whole set once.

const COST = 0.01;

let standard: DataSet;
let small: DataSet;
beforeAll(async () => {
  const options = { dataFolder: 'standin', cacheFolder: suiteFolder(), onProgress: () => {} };
  standard = await data.openDataSet(options);
  small = await data.openDataSet({ ...options, generated: { seed: 99, sampleCount: 40 } });
});

async function aucOf(model: ModelProto, dataSet: DataSet): Promise<number> {
  const modelFile = join(tempFolder(), 'model.onnx');
  writeFileSync(modelFile, encodeModel(model));
  const sha256 = await fileDigest(modelFile, 'sha256');
  const session = await createOrtSession({ modelFile, sha256, runtime: DEFAULT_RUNTIME });
  const pipeline = benchmark.openPipeline({ file: modelFile, ...session.tensors }, {});
  async function* entries() {
    for (let sampleIndex = 0; sampleIndex < dataSet.totalSampleCount; sampleIndex += 1) {
      const payload = await dataSet.readPayload(sampleIndex, 'raw');
      const [response] = await pipeline.answer([{ payload, form: 'raw' }], session.run);
      if (!(response instanceof Uint8Array)) throw response;
      yield { sampleIndex, response };
    }
  }
  const { value } = await dataSet.scoreAccuracy(entries());
  return value;
}

/** The model with the weights of all operators of a kind, or one of its constants, set to zero. */
function damaged(isHit: (shape: readonly number[]) => boolean): ModelProto {
  const model = standinModel('damaged', COST);
  const hit = model.graph.initializer.filter(
    ({ dims, data_type: type }) => type === 1 && isHit(dims),
  );
  expect(hit.length).toBeGreaterThan(0);
  for (const { raw_data: bytes } of hit) bytes.fill(0);
  return model;
}

describe('the stand-in for DLRM-DCNv2', () => {
  it('has the AUC of the rules on the standard data', { timeout: 120_000 }, async () => {
    expect(await aucOf(standinModel('whole', COST), standard)).toBeCloseTo(STANDIN_AUC, 3);
  });

  it('loses AUC with every part that is damaged', { timeout: 60_000 }, async () => {
    const whole = await aucOf(standinModel('whole', COST), small);
    expect(whole).toBeGreaterThan(0.77);
    expect(whole).toBeLessThan(0.84);
    const tables = await aucOf(
      damaged(([rows]) => rows === 2000),
      small,
    );
    const dense = await aucOf(
      damaged(([inputs]) => inputs === 13),
      small,
    );
    const over = await aucOf(
      damaged(([inputs, outputs]) => inputs === 3456 && (outputs ?? 0) > 8),
      small,
    );
    expect(tables).toBeLessThan(whole - 0.05);
    expect(dense).toBeLessThan(whole - 0.001);
    expect(over).toBeLessThan(0.6);
  });

  it('scales its work and keeps its tables', () => {
    const weights = (cost: number): number =>
      standinModel('m', cost)
        .graph.initializer.filter(({ dims }) => dims.length === 2 && dims[1] !== 128)
        .reduce((sum, { dims: [rows = 0, columns = 0] }) => sum + rows * columns, 0);
    const real =
      13 * 512 +
      512 * 256 +
      3 * 2 * 3456 * 512 +
      3456 * 1024 +
      1024 * 1024 +
      1024 * 512 +
      512 * 256 +
      256;
    expect(weights(1)).toBe(real);
    expect(weights(0.1) / weights(1)).toBeCloseTo(0.1, 2);
    expect(weights(0.01) / weights(1)).toBeCloseTo(0.01, 2);
  });

  it('is the same bytes each time', () => {
    expect(
      Buffer.from(encodeModel(standinModel('m', COST))).equals(
        encodeModel(standinModel('m', COST)),
      ),
    ).toBe(true);
  });
});
