import { describe, expect, it } from 'vitest';
import {
  decoderParameters,
  decoderSizeOf,
  SMALLEST,
} from '../../../../../sut-node/benchmarks/language/standin.ts';
import { sutBenchmark } from '../../../../../sut-node/benchmarks/registry.ts';
import type { GeneratingPipeline } from '../../../../../sut-node/model/model-facts.ts';
import { DECODER_TENSORS } from '../../../../../sut-node/pipeline/decoder-fit.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: what the three language models are on the SUT node: their rules of generation, the prompts
// that they refuse, and how large their stand-ins are. Method: pipelines on a model that is only
// said to be there.

const KEYS = ['gptj', 'llama2-70b', 'mixtral-8x7b'];
const VOCABULARY = 60_000;

async function pipelineOf(key: string): Promise<GeneratingPipeline> {
  const tensor = (name: string, elementType: string, shape: number[]) => ({
    ...{ name, elementType, shape },
  });
  const { ids, mask, logits, caches } = DECODER_TENSORS;
  const benchmark = await sutBenchmark(key);
  const cache = [0, 2, 0, 8];
  const model = {
    file: 'model.onnx',
    inputs: [
      ...[ids, mask].map((name) => tensor(name, 'int64', [0, 0])),
      ...caches(1).map(({ past }) => tensor(past, 'float', cache)),
    ],
    outputs: [
      tensor(logits, 'float', [0, 0, VOCABULARY]),
      ...caches(1).map(({ present }) => tensor(present, 'float', cache)),
    ],
  };
  return benchmark.openPipeline(model, {}) as GeneratingPipeline;
}

function payloadOf(...ids: number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(ids).buffer);
}

describe('language models on the SUT node', () => {
  it('generate as the rules ask', async () => {
    const limits = await Promise.all(KEYS.map(async (key) => (await pipelineOf(key)).limits));
    expect(limits).toEqual([
      {
        ...{ promptTokensMax: 1919, newTokensMin: 30, newTokensMax: 128 },
        ...{ endToken: 50_256, beams: 4 },
      },
      { promptTokensMax: 1024, newTokensMin: 1, newTokensMax: 1024, endToken: 2 },
      {
        ...{ promptTokensMax: 2048, newTokensMin: 2, newTokensMax: 1024, endToken: 2 },
        endMark: {
          promptHead: [1, 1, 28_705, 733, 16_289, 28_793, 21_929, 272, 2296, 2696, 28_723],
          ids: [13, 13_940, 28_832, 13],
        },
      },
    ]);
  });

  it.each(KEYS)('of %s read prompts, and say what is wrong with one', async (key) => {
    const { promptOf, limits } = await pipelineOf(key);
    const { promptTokensMax: most } = limits;
    expect(promptOf(payloadOf(7, 0, VOCABULARY - 1))).toEqual([7, 0, VOCABULARY - 1]);
    expect(promptOf(payloadOf(...new Array(most).fill(3)))).toHaveLength(most);
    const count = `a prompt has 1 to ${most} token ids of 4 bytes each, not`;
    expect(() => promptOf(payloadOf())).toThrow(`${count} 0 bytes`);
    expect(() => promptOf(new Uint8Array(7))).toThrow(`${count} 7 bytes`);
    const long = payloadOf(...new Array(most + 1).fill(3));
    expect(() => promptOf(long)).toThrow(`${count} ${4 * most + 4} bytes`);
    const ids = `the model has ids from 0 to ${VOCABULARY - 1}`;
    expect(() => promptOf(payloadOf(1, VOCABULARY))).toThrow(
      `token 1 of the prompt is ${VOCABULARY}; ${ids}`,
    );
    expect(() => promptOf(payloadOf(-1))).toThrow(`token 0 of the prompt is -1; ${ids}`);
  });
});

describe('the size of a stand-in', () => {
  it('is about the share of the real model that is asked for', () => {
    for (const wanted of [1e7, 5e7, 2e8]) {
      const size = decoderSizeOf(wanted);
      expect(decoderParameters(size) / wanted).toBeGreaterThan(0.9);
      expect(decoderParameters(size) / wanted).toBeLessThan(1.1);
    }
    expect(decoderSizeOf(1)).toEqual(SMALLEST);
  });

  it.each([
    ['llama2-70b', /--standin-cost 1 of llama2-70b .* 69.0 billion weights; choose 0.0038 or less/],
    ['mixtral-8x7b', /choose 0.0208 or less/],
    ['gptj', /choose 0.0443 or less/],
  ])('of %s is refused where no file could hold it', async (key, message) => {
    const { prepareModel } = await sutBenchmark(key);
    const options = { model: 'standin', cacheFolder: tempFolder(), onProgress: () => {} };
    await expect(prepareModel({ ...options, cost: 1 })).rejects.toThrow(message);
  });
});
