import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { PICTURE_STANDIN_REVISION } from '../../../shared/benchmarks/standin/standin-pictures.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { PROMPT_TOKENS } from '../../../shared/rules/cards/stable-diffusion-xl.ts';
import type { StepwisePipeline } from '../../model/model-facts.ts';
import { ensureStandinParts } from '../ensure-standin.ts';
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
  sampleElements: 4 * PROMPT_TOKENS,
  hasStandinCost: true,
  standinCostMin: COST_DEFAULT,
  takesHalf: true,
  prepareModel: ({ cost = COST_DEFAULT, ...options }) =>
    ensureStandinParts(
      {
        name: STANDIN_NAME,
        original: 'Stable Diffusion XL',
        recipe: {
          cost,
          graphRevision: PICTURE_GRAPH_REVISION,
          pictureRevision: PICTURE_STANDIN_REVISION,
        },
        make: () => ({
          parts: standinParts(cost),
          beside: { [STANDIN_LATENTS_FILE]: standinLatents() },
        }),
      },
      options,
    ),
  openPipeline: picturePipeline,
};

function standinLatents(): Uint8Array {
  const random = new SeededRandom(LATENTS_SEED, 0);
  const latents = Float32Array.from({ length: LATENT_COUNT }, () => random.nearlyNormal());
  return new Uint8Array(latents.buffer);
}
