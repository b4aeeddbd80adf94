import { TEACHER_REVISION } from '../../../shared/benchmarks/dlrm-v2/standin-teacher.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { StepwisePipeline } from '../../model/model-facts.ts';
import { encodeModel } from '../../model/onnx/graph-builder.ts';
import { refuseUsage } from '../../pipeline/model-fit.ts';
import { ensureStandinFile } from '../ensure-standin.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { openPairPipeline } from './pair-pipeline.ts';
import { standinModel } from './standin-graph.ts';

/** Name of the stand-in in logs and on the wire. */
const STANDIN_NAME = 'dlrm-v2-standin';

/** Raise with every change of the graph: no model of the old way is found in the cache then. */
const GRAPH_REVISION = 1;

/** Share of the real model's work: a mean sample takes some 20 ms on 2 cores, so that the bound of 60 ms can be met. */
const DEFAULT_COST = 0.1;

/** DLRM-DCNv2 on the SUT node: a response is the probability of a click of each pair, float32. */
export const benchmark: SutBenchmark<StepwisePipeline> = {
  rules: benchmarkRules('dlrm-v2'),
  builtInModels: { standin: STANDIN_NAME },
  reference: {
    howToGet:
      'the reference has PyTorch weights only; the README of the benchmark tells how to export them to ONNX',
    files: [],
  },
  sampleElements: undefined,
  hasStandinCost: true,
  takesHalf: true,
  prepareModel: ({ cost = DEFAULT_COST, ...options }) =>
    ensureStandinFile(
      {
        name: STANDIN_NAME,
        original: 'DLRM-DCNv2',
        recipe: { cost, graphRevision: GRAPH_REVISION, teacherRevision: TEACHER_REVISION },
        make: () => encodeModel(standinModel(STANDIN_NAME, cost)),
      },
      options,
    ),
  openPipeline: (model, usage) => {
    refuseUsage(usage, 'the benchmark dlrm-v2');
    return openPairPipeline(model);
  },
};
