import assert from 'node:assert';
import { standinTextsOf } from '../../../shared/benchmarks/standin/standin-text.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { GeneratingPipeline } from '../../model/model-facts.ts';
import { cacheAdditions } from '../../pipeline/cache-additions.ts';
import { refuseUsage } from '../../pipeline/model-fit.ts';
import { standinModels } from '../standin/standin-models.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { promptPipeline } from './prompt-pipeline.ts';
import { languageStandin } from './standin.ts';

/**
 * A language model defined by its card: a decoder-only model that continues a prompt. A response is
 * the ids of all new tokens, int32 little-endian, including the end token.
 */
export function makeBenchmark(key: string): SutBenchmark<GeneratingPipeline> {
  const rules = benchmarkRules(key);
  const { language } = rules;
  assert(language !== undefined, key);
  const { limits } = language;
  const texts = standinTextsOf(key);
  return {
    ...standinModels(languageStandin(key, language)),
    rules,
    reference: {
      howToGet:
        'the reference has PyTorch weights only; the README of the benchmark lists the inputs and outputs of an export',
      files: [],
    },
    sampleElements: limits.promptTokensMax,
    additionsTo: cacheAdditions,
    openPipeline: (model, usage) => {
      refuseUsage(usage, `the benchmark ${key}`);
      return promptPipeline(model, `the benchmark ${key}`, limits, texts);
    },
  };
}
