import assert from 'node:assert';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import {
  standinTextsOf,
  TEXT_STANDIN_REVISION,
} from '../../../shared/benchmarks/standin/standin-text.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { GeneratingPipeline } from '../../model/model-facts.ts';
import { cacheAdditions } from '../../pipeline/cache-additions.ts';
import { refuseUsage } from '../../pipeline/model-fit.ts';
import { ensureStandinInThread } from '../ensure-standin.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { type DecoderSize, decoderParameters, decoderSizeOf } from './decoder-size.ts';
import { promptPipeline } from './prompt-pipeline.ts';

/** Raise with every change of the graph: no model of the old way is found in the cache then. */
const GRAPH_REVISION = 1;

/** Largest stand-in: its file is made in memory, and ONNX has 2 GiB in one piece at most. */
const PARAMETERS_MAX: number = 1024 ** 3 / Float32Array.BYTES_PER_ELEMENT;

/** Layers and width of a stand-in where no cost is asked for. Small: each sequence of a beam search is several rows. */
const SIZE_DEFAULT = { layers: 2, width: 320 };

/** Work of the thread that makes a stand-in. */
export interface StandinWork {
  readonly file: string;
  readonly name: string;
  readonly size: DecoderSize;
}

/**
 * A language model, of which the card says all: a decoder-only model that goes on with a prompt. A response is the ids of all
 * new tokens, int32 little-endian, with the token that ends them.
 */
export function makeBenchmark(key: string): SutBenchmark<GeneratingPipeline> {
  const rules = benchmarkRules(key);
  const { language } = rules;
  assert(language !== undefined, key);
  const { limits, activeParameters } = language;
  const name = `${key}-standin`;
  const texts = standinTextsOf(key);
  return {
    rules,
    builtInModels: { standin: name },
    reference: {
      howToGet:
        'the reference has PyTorch weights only; the README of the benchmark tells the inputs and outputs of an export',
      files: [],
    },
    sampleElements: limits.promptTokensMax,
    hasStandinCost: true,
    standinCostMin: 0.0001,
    prepareModel: async ({ cost, ...options }) => {
      const size = sizeFor({ key, activeParameters }, cost, texts.vocabularySize);
      return ensureStandinInThread(
        {
          name,
          original: `${key}, ${size.layers} layers of ${size.width}`,
          recipe: { ...size, graphRevision: GRAPH_REVISION, textRevision: TEXT_STANDIN_REVISION },
          entry: 'sut-node/benchmarks/language/make-standin.js',
          workOf: (file) => ({ file, name, size }) satisfies StandinWork,
        },
        options,
      );
    },
    additionsTo: cacheAdditions,
    openPipeline: (model, usage) => {
      refuseUsage(usage, `the benchmark ${key}`);
      return promptPipeline(model, `the benchmark ${key}`, limits, texts);
    },
  };
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for a cost whose stand-in would be too large */
function sizeFor(
  { key, activeParameters }: { readonly key: string; readonly activeParameters: number },
  cost: number | undefined,
  vocabulary: number,
): DecoderSize {
  if (cost === undefined) return { ...SIZE_DEFAULT, vocabulary };
  const wanted = cost * activeParameters;
  if (wanted > PARAMETERS_MAX) {
    const most = Math.floor((PARAMETERS_MAX / activeParameters) * 1e4) / 1e4;
    throw configInvalid(
      `--standin-cost ${cost} of ${key} is a stand-in of ${(wanted / 1e9).toFixed(1)} billion weights; at most ${most}, which has 1 GiB of them`,
    );
  }
  const size = decoderSizeOf(wanted, vocabulary);
  return decoderParameters(size) > PARAMETERS_MAX ? { ...size, layers: size.layers - 1 } : size;
}
