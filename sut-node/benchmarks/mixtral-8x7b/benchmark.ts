import {
  PROGRAM_END,
  PROGRAM_PROMPT_HEAD,
} from '../../../shared/benchmarks/mixtral-8x7b/program-ids.ts';
import type { GeneratingPipeline } from '../../model/model-facts.ts';
import { generatingBenchmark } from '../language/generating-benchmark.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

/**
 * Mixtral 8x7B instruct on the SUT node. Source: mlcommons/inference v4.1, language/mixtral-8x7b/SUT.py. A payload does not tell
 * its part of the data set: programs (MBXP), which end behind their closing marks, are known by the beginning of their prompts. Nor does
 * it tell the round: the least number of new tokens is that of v5.0 and later; v4.1 has 1.
 */
export const benchmark: SutBenchmark<GeneratingPipeline> = generatingBenchmark({
  key: 'mixtral-8x7b',
  limits: {
    ...{ promptTokensMax: 2048, newTokensMin: 2, newTokensMax: 1024, endToken: 2 },
    endMark: { promptHead: PROGRAM_PROMPT_HEAD, ids: PROGRAM_END },
  },
  // Two of eight experts.
  activeParameters: 12.9e9,
  standinSize: { layers: 2, width: 320 },
});
