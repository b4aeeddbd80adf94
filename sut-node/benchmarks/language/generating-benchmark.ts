import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { TEXT_STANDIN_REVISION } from '../../../shared/benchmarks/standin/standin-text.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { GeneratingPipeline, GenerationLimits } from '../../model/model-facts.ts';
import { encodeModel } from '../../model/onnx/graph-builder.ts';
import { refuseUsage } from '../../pipeline/model-fit.ts';
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
    prepareModel: async ({ cacheFolder, onProgress }) => {
      const file = `${standinName}.onnx`;
      const folder = await ensureArtifact({
        cacheFolder,
        name: `${standinName}-model`,
        recipe: {
          ...STANDIN_SIZE,
          graphRevision: GRAPH_REVISION,
          textRevision: TEXT_STANDIN_REVISION,
        },
        build: (building, onBuildProgress) => {
          onBuildProgress(0, `making the stand-in for ${key}`);
          return writeFile(
            join(building, file),
            encodeModel(standinDecoder(standinName, STANDIN_SIZE)),
          );
        },
        onProgress,
      });
      return join(folder, file);
    },
    openPipeline: (model, usage) => {
      refuseUsage(usage, `the benchmark ${key}`);
      return promptPipeline(model, `the benchmark ${key}`, limits);
    },
  };
}
