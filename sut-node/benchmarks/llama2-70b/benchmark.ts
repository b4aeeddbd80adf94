import type { GeneratingPipeline } from '../../model/model-facts.ts';
import { generatingBenchmark } from '../language/generating-benchmark.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

/** Llama 2 70B chat on the SUT node. Source: mlcommons/inference v4.1, language/llama2-70b/SUT.py. */
export const benchmark: SutBenchmark<GeneratingPipeline> = generatingBenchmark({
  key: 'llama2-70b',
  limits: { promptTokensMax: 1024, newTokensMin: 1, newTokensMax: 1024, endToken: 2 },
  activeParameters: 69e9,
  standinSize: { layers: 2, width: 320 },
});
