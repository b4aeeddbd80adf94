import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { benchmark as data } from '../../../../../loadgen-node/samples/benchmarks/dlrm-v2/benchmark.ts';
import { STANDIN_AUC } from '../../../../../shared/benchmarks/dlrm-v2/planted-clicks.ts';
import { DENSE_COUNT, PAIR_BYTES } from '../../../../../shared/rules/cards/dlrm-v2.ts';
import { benchmark } from '../../../../../sut-node/benchmarks/dlrm-v2/benchmark.ts';
import { DLRM_STANDIN } from '../../../../../sut-node/benchmarks/dlrm-v2/standin.ts';
import { fileDigest } from '../../../../../sut-node/model/model-file.ts';
import { createOrtSession } from '../../../../../sut-node/model/onnx/ort-session.ts';
import { DEFAULT_RUNTIME } from '../../../../../sut-node/settings/model-settings.ts';
import { suiteFolder } from '../../../../scenes/host/folders.ts';

// Goal: the stand-in's AUC on the standard data is that of the rules, below 100 %, and falls where
// samples are damaged. Method: ONNX Runtime through the code that serves it; the whole set once.

it('has the AUC of the rules on the standard data, and chance with other pairs', async () => {
  const options = { dataFolder: 'standin', cacheFolder: suiteFolder(), onProgress: () => {} };
  const standard = await data.openDataSet(options);
  const modelFile = join(suiteFolder(), 'model.onnx');
  const bytes = DLRM_STANDIN.make('standin', 0.01)['dlrm-v2-standin.onnx'] as Uint8Array;
  writeFileSync(modelFile, bytes);
  const sha256 = await fileDigest(modelFile, 'sha256');
  const session = await createOrtSession({ modelFile, sha256, runtime: DEFAULT_RUNTIME });
  const pipeline = benchmark.openPipeline({ file: modelFile, ...session.tensors }, {});
  const aucOf = async (payloadOf: (payload: Uint8Array) => Uint8Array) => {
    async function* entries() {
      for (let sampleIndex = 0; sampleIndex < standard.totalSampleCount; sampleIndex += 1) {
        const payload = payloadOf(await standard.readPayload(sampleIndex, 'raw'));
        const [response] = await pipeline.answer([{ payload, form: 'raw' }], session.run);
        if (!(response instanceof Uint8Array)) throw response;
        yield { sampleIndex, response };
      }
    }
    return (await standard.scoreAccuracy(entries())).value;
  };
  expect(await aucOf((payload) => payload)).toBeCloseTo(STANDIN_AUC, 3);
  // Each dense feature turns up a place further on.
  const shifted = await aucOf((payload) => {
    const moved = payload.slice();
    moved.copyWithin(4, 0, (payload.length / PAIR_BYTES) * 4 * DENSE_COUNT - 4);
    return moved;
  });
  expect(shifted).toBeLessThan(0.52);
}, 300_000);
