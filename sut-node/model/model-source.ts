import { basename, extname } from 'node:path';
import { modelError } from '../../shared/base/errors/mlperf-error.ts';
import type { BenchmarkRules } from '../../shared/rules/rows/benchmark-row.ts';
import { isDescription, readModelDescription } from './model-description.ts';
import type { ModelUsage } from './model-facts.ts';
import type { ReferenceModel } from './model-file.ts';

/** Models that a benchmark can have. */
export interface BenchmarkModels {
  readonly rules: BenchmarkRules;
  /**
   * Models that longhaul makes itself: the word that `--model` takes → the model's name in logs and on the
   * wire. The first one is taken where nothing is said, unless there is a {@link reference}.
   */
  readonly builtInModels: Readonly<Record<string, string>>;
  /** The model that the rules ask for, which the user brings; undefined where there is none. */
  readonly reference: ReferenceModel | undefined;
}

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
export function modelSource(benchmark: BenchmarkModels, model: string | undefined): ModelSource {
  const { builtInModels, reference, rules } = benchmark;
  if (model === undefined) {
    const [first] = Object.entries(builtInModels);
    if (reference !== undefined || first === undefined) {
      const words = Object.keys(builtInModels).map((word) => `, or --model ${word}`);
      throw modelError(
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
