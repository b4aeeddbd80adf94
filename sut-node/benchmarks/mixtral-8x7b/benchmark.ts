import type { GeneratingPipeline } from '../../model/model-facts.ts';
import { generatingBenchmark } from '../language/generating-benchmark.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

/**
 * Mixtral 8x7B instruct on the SUT node. Source: mlcommons/inference v4.1, language/mixtral-8x7b/SUT.py. A payload does not tell
 * its data set, so programs (MBXP) are not ended behind their closing marks, as the reference does.
 */
export const benchmark: SutBenchmark<GeneratingPipeline> = generatingBenchmark({
  key: 'mixtral-8x7b',
  limits: { promptTokensMax: 2048, newTokensMin: 1, newTokensMax: 1024, endToken: 2 },
  // Two of eight experts.
  activeParameters: 12.9e9,
  standinSize: { layers: 4, width: 384 },
});
