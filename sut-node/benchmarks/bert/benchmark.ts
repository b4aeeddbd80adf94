import { SQUAD_STANDIN_REVISION } from '../../../shared/benchmarks/standin/standin-squad.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { BERT_LENGTH } from '../../../shared/rules/cards/bert.ts';
import type { ModelPipeline } from '../../model/model-facts.ts';
import { refuseUsage } from '../../pipeline/model-fit.ts';
import { ensureStandinInThread } from '../ensure-standin.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { bertPipeline } from './bert-pipeline.ts';
import { type BertSize, bertSizeOf } from './standin-weights.ts';

/** Raise with every change of the graph or its weights: no model of the old way is found in the cache then. */
const GRAPH_REVISION = 1;

/** Share of BERT-large's compute where none is asked for. */
const COST_DEFAULT = 0.01;

/** Words of `--model`; the second takes samples of any length, so that padding is cut off. */
const STANDINS = { standin: 'bert-standin', 'standin-free': 'bert-standin-free-length' } as const;

/** Work of the thread that makes a stand-in. */
export interface StandinWork {
  readonly file: string;
  readonly size: BertSize;
  readonly hasFreeLength: boolean;
}

/** BERT-large on SQuAD v1.1 on the SUT node. */
export const benchmark: SutBenchmark<ModelPipeline> = {
  rules: benchmarkRules('bert'),
  builtInModels: STANDINS,
  reference: {
    howToGet:
      'the reference is model.onnx of Zenodo record 3733910 (1.3 GB), or bert_large_v1_1_fake_quant.onnx of 3750364 (int8)',
    // MD5 is what MLCommons publishes of them (mlcommons/mlperf-automations, script/get-ml-model-bert-large-squad).
    files: [
      { algorithm: 'md5', digest: '819b25b19cd8e59080c10892689750ca' },
      { algorithm: 'md5', digest: '45f88ffb2915362242703c85c38ec2d4' },
    ],
  },
  // Three inputs.
  sampleElements: 3 * BERT_LENGTH,
  hasStandinCost: true,
  takesHalf: true,
  prepareModel: ({ model, cost = COST_DEFAULT, ...options }) => {
    const size = bertSizeOf(cost);
    const hasFreeLength = model === 'standin-free';
    return ensureStandinInThread(
      {
        name: STANDINS[model as keyof typeof STANDINS], // Only words of builtInModels are requested.
        original: `BERT-large, ${size.layers} layers of ${size.width}`,
        recipe: { ...size, graphRevision: GRAPH_REVISION, dataRevision: SQUAD_STANDIN_REVISION },
        entry: 'sut-node/benchmarks/bert/make-standin.js',
        workOf: (file) => ({ file, size, hasFreeLength }) satisfies StandinWork,
      },
      options,
    );
  },
  openPipeline: (model, usage) => {
    refuseUsage(usage, 'the benchmark bert');
    return bertPipeline(model);
  },
};
