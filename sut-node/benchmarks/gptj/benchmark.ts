import type { GeneratingPipeline } from '../../model/model-facts.ts';
import { generatingBenchmark } from '../language/generating-benchmark.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

/** GPT-J 6B on the SUT node. Source: mlcommons/inference v4.1, language/gpt-j/backend_PyTorch.py (`gen_kwargs`). */
export const benchmark: SutBenchmark<GeneratingPipeline> = generatingBenchmark({
  key: 'gptj',
  limits: {
    promptTokensMax: 1919,
    newTokensMin: 30,
    newTokensMax: 128,
    endToken: 50_256,
    beams: 4,
  },
  activeParameters: 6.05e9,
  // Small: each sequence is four rows.
  standinSize: { layers: 2, width: 320 },
});
