import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { PICTURE_STANDIN_REVISION } from '../../../shared/benchmarks/standin/standin-pictures.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { PICTURE_BYTES, PROMPT_TOKENS } from '../../../shared/rules/rows/stable-diffusion-xl.ts';
import type { StepwisePipeline } from '../../model/model-facts.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { LATENT_COUNT, STANDIN_LATENTS_FILE } from './fixed-latents.ts';
import { PARTS } from './model-parts.ts';
import { picturePipeline } from './picture-pipeline.ts';
import { PICTURE_GRAPH_REVISION, standinParts } from './standin-graphs.ts';

const STANDIN_NAME = 'sdxl-standin';

/** Cost of a stand-in where none is asked for: 12 billion operations for a prompt's 20 steps. */
const COST_DEFAULT = 0.0001;

const LATENTS_SEED = 1024;

/** Stable Diffusion XL on the SUT node: token ids of a pair of prompts in, the bytes of a picture out. */
export const benchmark: SutBenchmark<StepwisePipeline> = {
  rules: benchmarkRules('stable-diffusion-xl'),
  builtInModels: { standin: STANDIN_NAME },
  parts: PARTS,
  reference: {
    howToGet:
      "the reference is stabilityai/stable-diffusion-xl-base-1.0, exported to ONNX by Hugging Face optimum, with MLCommons' latents.npy beside " +
      'the description',
    // Nobody publishes a checksum of its ONNX files.
    files: [],
  },
  responseBytesMax: PICTURE_BYTES,
  sampleElements: 4 * PROMPT_TOKENS,
  hasStandinCost: true,
  takesHalf: true,
  prepareModel: async ({ cost = COST_DEFAULT, cacheFolder, onProgress }) => {
    const description = `${STANDIN_NAME}.yaml`;
    const folder = await ensureArtifact({
      cacheFolder,
      name: `${STANDIN_NAME}-model`,
      recipe: {
        ...{ cost, graphRevision: PICTURE_GRAPH_REVISION },
        pictureRevision: PICTURE_STANDIN_REVISION,
      },
      build: async (building) => {
        const parts = standinParts(cost);
        const fileOf = (part: string): string => `${STANDIN_NAME}-${part}.onnx`;
        for (const part of PARTS) {
          await writeFile(join(building, fileOf(part)), parts[part] as Uint8Array);
        }
        await writeFile(join(building, STANDIN_LATENTS_FILE), standinLatents());
        const lines = PARTS.map((part) => `  ${part}: ${fileOf(part)}\n`);
        const text = `name: ${STANDIN_NAME}\nparts:\n${lines.join('')}`;
        await writeFile(join(building, description), text);
      },
      onProgress,
    });
    return join(folder, description);
  },
  openPipeline: picturePipeline,
};

function standinLatents(): Uint8Array {
  const random = new SeededRandom(LATENTS_SEED, 0);
  const latents = Float32Array.from({ length: LATENT_COUNT }, () => random.nearlyNormal());
  return new Uint8Array(latents.buffer);
}
