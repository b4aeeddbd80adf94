import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { BERT_LENGTH } from '../../../shared/rules/cards/bert.ts';
import type { ModelPipeline } from '../../model/model-facts.ts';
import { refuseUsage } from '../../pipeline/model-fit.ts';
import { standinModels } from '../standin/standin-models.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { bertPipeline } from './bert-pipeline.ts';
import { BERT_STANDIN } from './standin.ts';

/** BERT-large on SQuAD v1.1 on the SUT node. */
export const benchmark: SutBenchmark<ModelPipeline> = {
  ...standinModels(BERT_STANDIN),
  rules: benchmarkRules('bert'),
  reference: {
    howToGet:
      'the reference is model.onnx of Zenodo record 3733910 (1.3 GB), or bert_large_v1_1_fake_quant.onnx of 3750364 (int8)',
    // MD5 published by MLCommons (mlcommons/mlperf-automations,
    // script/get-ml-model-bert-large-squad).
    files: [
      { algorithm: 'md5', digest: '819b25b19cd8e59080c10892689750ca' },
      { algorithm: 'md5', digest: '45f88ffb2915362242703c85c38ec2d4' },
    ],
  },
  // Elements of three inputs.
  sampleElements: 3 * BERT_LENGTH,
  takesHalf: true,
  openPipeline: (model, usage) => {
    refuseUsage(usage, 'the benchmark bert');
    return bertPipeline(model);
  },
};
