import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { openPipeline } from '../../pipeline/open-pipeline.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

/**
 * Any ONNX model on the SUT node. Unless its description differs, payloads are the model's inputs
 * and responses its outputs.
 */
export const benchmark: SutBenchmark = {
  rules: benchmarkRules('custom'),
  builtInModels: {},
  reference: undefined,
  sampleElements: undefined,
  prepareModel: ({ model }) =>
    Promise.reject(modelError(`benchmark custom has no model "${model}"`)),
  openPipeline,
};
