import { TEXT_STANDIN_REVISION } from '../../../shared/benchmarks/standin/standin-text.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { GeneratingPipeline, GenerationLimits } from '../../model/model-facts.ts';
import { encodeModel } from '../../model/onnx/graph-builder.ts';
import { refuseUsage } from '../../pipeline/model-fit.ts';
import { ensureStandinFile } from '../ensure-standin.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { promptPipeline } from './prompt-pipeline.ts';
import { standinDecoder } from './standin-decoder.ts';

/** Raise with every change of the graph: no model of the old way is found in the cache then. */
const GRAPH_REVISION = 1;

/** 10 MFLOP per token: the real models have ten thousand times as much, which no test machine has. */
const STANDIN_SIZE = { layers: 4, width: 384 };

/**
 * A benchmark of a decoder-only model that goes on greedily with a prompt: response = ids of all new tokens, int32
 * little-endian, with the token that ends them.
 */
export function generatingBenchmark(
  key: string,
  limits: GenerationLimits,
): SutBenchmark<GeneratingPipeline> {
  const standinName = `${key}-standin`;
  return {
    rules: benchmarkRules(key),
    builtInModels: { standin: standinName },
    reference: {
      howToGet:
        'the reference has PyTorch weights only; the README of the benchmark tells the inputs and outputs of an export',
      files: [],
    },
    responseBytesMax: limits.newTokensMax * Int32Array.BYTES_PER_ELEMENT,
    sampleElements: limits.promptTokensMax,
    prepareModel: (options) =>
      ensureStandinFile(
        {
          ...{ name: standinName, original: key },
          recipe: {
            ...STANDIN_SIZE,
            graphRevision: GRAPH_REVISION,
            textRevision: TEXT_STANDIN_REVISION,
          },
          make: () => encodeModel(standinDecoder(standinName, STANDIN_SIZE)),
        },
        options,
      ),
    openPipeline: (model, usage) => {
      refuseUsage(usage, `the benchmark ${key}`);
      return promptPipeline(model, `the benchmark ${key}`, limits);
    },
  };
}
