import { beforeAll, describe, expect, it } from 'vitest';
import { benchmark as data } from '../../../../../loadgen-node/samples/benchmarks/gnmt/benchmark.ts';
import type { DataSet } from '../../../../../loadgen-node/samples/data-set/data-set.ts';
import { TRANSLATION_STANDIN_BLEU } from '../../../../../shared/benchmarks/standin/standin-translation.ts';
import { benchmark } from '../../../../../sut-node/benchmarks/gnmt/benchmark.ts';
import type { OutputTensor, RunModel } from '../../../../../sut-node/model/model-facts.ts';
import { fileDigest } from '../../../../../sut-node/model/model-file.ts';
import { readModelDescription } from '../../../../../sut-node/model/model-source.ts';
import {
  createOrtSession,
  type ModelSession,
} from '../../../../../sut-node/model/onnx/ort-session.ts';
import { DEFAULT_RUNTIME } from '../../../../../sut-node/settings/model-settings.ts';
import { suiteFolder } from '../../../../scenes/host/folders.ts';

// Goal: the stand-in's BLEU is that of the rules, below 100, the same in batches of any size, and
// falls where the model is damaged. Method: the real ONNX Runtime; a decoder whose scores are
// spoiled on their way.

let file: string;
let session: ModelSession;
let standard: DataSet;

beforeAll(async () => {
  const options = { cacheFolder: suiteFolder(), onProgress: () => {} };
  file = await benchmark.prepareModel({ model: 'standin', ...options });
  standard = await data.openDataSet({ dataFolder: 'standin', ...options });
  const { parts = {} } = readModelDescription(file);
  const checked: Record<string, { modelFile: string; sha256: string }> = {};
  for (const [name, modelFile] of Object.entries(parts)) {
    checked[name] = { modelFile, sha256: await fileDigest(modelFile, 'sha256') };
  }
  const what = { modelFile: file, sha256: '', runtime: DEFAULT_RUNTIME };
  session = await createOrtSession({ ...what, parts: checked });
});

async function answers(count: number, batch: number, run: RunModel = session.run) {
  const pipeline = benchmark.openPipeline({ file, ...session.tensors }, {});
  const all: Uint8Array[] = [];
  while (all.length < count) {
    const indices = Array.from({ length: Math.min(batch, count - all.length) }, (_, i) => i);
    const samples = await Promise.all(
      indices.map(async (i) => {
        const payload = await standard.readPayload(all.length + i, 'text');
        return { payload, form: 'text' };
      }),
    );
    for (const answer of await pipeline.answer(samples, run)) {
      if (!(answer instanceof Uint8Array)) throw answer;
      all.push(answer);
    }
  }
  return all;
}

async function bleuOf(responses: readonly Uint8Array[]): Promise<number> {
  const entries = responses.map((response, sampleIndex) => ({ sampleIndex, response }));
  return (await standard.scoreAccuracy(entries)).value;
}

describe('the stand-in for GNMT', () => {
  it('has the BLEU of the rules on the standard data', { timeout: 180_000 }, async () => {
    const bleu = await bleuOf(await answers(standard.totalSampleCount, 16));
    expect(bleu).toBeCloseTo(TRANSLATION_STANDIN_BLEU, 5);
  });

  it('translates a sentence alone as it does among others', async () => {
    expect(await answers(8, 1)).toEqual(await answers(8, 8));
  });

  it('loses BLEU where its scores are spoiled', async () => {
    const whole = await bleuOf(await answers(24, 24));
    const spoiled = await answers(24, 24, async (inputs, names) => {
      const outputs = await session.run(inputs, names);
      const scores = outputs.get('decoder/log_probs') as OutputTensor | undefined;
      // Each fifth token is not to be had.
      scores?.data.forEach((_, i) => {
        if (i % 5 === 0) scores.data[i] = -30;
      });
      return outputs;
    });
    expect(await bleuOf(spoiled)).toBeLessThan(whole - 0.05);
  });

  it('answers no words with nothing, and what is no text with an error', async () => {
    const pipeline = benchmark.openPipeline({ file, ...session.tensors }, {});
    const payloads = [new TextEncoder().encode('  '), Uint8Array.of(0xff)];
    const samples = payloads.map((payload) => ({ payload, form: 'text' }));
    const [empty, broken] = await pipeline.answer(samples, session.run);
    expect(empty).toEqual(new Uint8Array(0));
    expect(broken).toMatchObject({ message: expect.stringContaining('is not UTF-8 text') });
  });
});
