import { basename, extname } from 'node:path';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { SutBenchmark } from '../benchmarks/sut-benchmark.ts';
import { isDescription, readModelDescription } from './model-description.ts';
import type { ModelUsage } from './model-usage.ts';

/** Where a model comes from: one that longhaul makes, or a file of the user's. */
export type ModelSource = {
  readonly name: string;
  /** What its description says; nothing where there is none. */
  readonly usage: ModelUsage;
} & (
  | { readonly builtIn: string; readonly file: undefined }
  | { readonly builtIn: undefined; readonly file: string }
);

/**
 * Finds out what `--model` means: one of the benchmark's own words, a model file, or its description.
 * @throws MlperfError `ERR_MODEL` where nothing is said and the rules ask for a model that longhaul has not;
 *   `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` for a description that is wrong
 */
export function modelSource(benchmark: SutBenchmark, model: string | undefined): ModelSource {
  const { builtInModels, reference, rules } = benchmark;
  if (model === undefined) {
    const [first] = Object.entries(builtInModels);
    if (reference !== undefined || first === undefined) {
      const words = Object.keys(builtInModels).map((word) => `, or --model ${word}`);
      throw new MlperfError(
        'ERR_MODEL',
        `benchmark ${rules.key} needs a model: --model FILE${words.join('')}` +
          `${reference === undefined ? '' : `; ${reference.howToGet}`}`,
      );
    }
    return { builtIn: first[0], name: first[1], usage: {}, file: undefined };
  }
  const builtInName = Object.hasOwn(builtInModels, model) ? builtInModels[model] : undefined;
  if (builtInName !== undefined) {
    return { builtIn: model, name: builtInName, usage: {}, file: undefined };
  }
  if (isDescription(model)) return { builtIn: undefined, ...readModelDescription(model) };
  return { builtIn: undefined, name: basename(model, extname(model)), usage: {}, file: model };
}
