import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { PROMPT_TOKENS } from '../../../shared/rules/cards/stable-diffusion-xl.ts';
import type { StepwisePipeline } from '../../model/model-facts.ts';
import { standinModels } from '../standin/standin-models.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { PARTS } from './model-parts.ts';
import { picturePipeline } from './picture-pipeline.ts';
import { SDXL_STANDIN } from './standin.ts';

/**
 * Stable Diffusion XL on the SUT node: token ids of a pair of prompts in, the bytes of a picture
 * out.
 */
export const benchmark: SutBenchmark<StepwisePipeline> = {
  ...standinModels(SDXL_STANDIN),
  rules: benchmarkRules('stable-diffusion-xl'),
  parts: PARTS,
  reference: {
    howToGet:
      "the reference is stabilityai/stable-diffusion-xl-base-1.0, exported to ONNX by Hugging Face optimum, with MLCommons' latents.npy beside " +
      'the description',
    // No checksum of its ONNX files is published.
    files: [],
  },
  sampleElements: 4 * PROMPT_TOKENS,
  takesHalf: true,
  openPipeline: picturePipeline,
};
