import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { StepwisePipeline } from '../../model/model-facts.ts';
import { refuseUsage } from '../../pipeline/model-fit.ts';
import { standinModels } from '../standin/standin-models.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { openPairPipeline } from './pair-pipeline.ts';
import { DLRM_STANDIN } from './standin.ts';

/** DLRM-DCNv2 on the SUT node: a response is the probability of a click of each pair, float32. */
export const benchmark: SutBenchmark<StepwisePipeline> = {
  ...standinModels(DLRM_STANDIN),
  rules: benchmarkRules('dlrm-v2'),
  reference: {
    howToGet:
      'the reference has PyTorch weights only; the README of the benchmark describes the export to ONNX',
    files: [],
  },
  sampleElements: undefined,
  takesHalf: true,
  openPipeline: (model, usage) => {
    refuseUsage(usage, 'the benchmark dlrm-v2');
    return openPairPipeline(model);
  },
};
