import { basename, extname } from 'node:path';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import type { SutBenchmark } from '../benchmarks/sut-benchmark.ts';

/** Where a model comes from: one that longhaul makes, or a file of the user's. */
export type ModelSource = { readonly name: string } & (
  | { readonly builtIn: string; readonly file: undefined }
  | { readonly builtIn: undefined; readonly file: string }
);

/**
 * Finds out what `--model` means: one of the benchmark's own words, or a file.
 * @throws MlperfError `ERR_MODEL` where nothing is said and the rules ask for a model that longhaul has not.
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
    return { builtIn: first[0], name: first[1], file: undefined };
  }
  const builtInName = Object.hasOwn(builtInModels, model) ? builtInModels[model] : undefined;
  if (builtInName !== undefined) return { builtIn: model, name: builtInName, file: undefined };
  return { builtIn: undefined, name: basename(model, extname(model)), file: model };
}
