import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { requireKnownShapes } from '../../../shared/domain/input-shapes.ts';
import type { OipTensor } from '../../../shared/domain/tensors.ts';
import type { PrepareProgress } from '../data-set/data-set.ts';
import { openJsonlDataSet } from '../tensors/jsonl/jsonl-data-set.ts';
import {
  MADE_UP_COUNT_DEFAULT,
  MADE_UP_SEED_DEFAULT,
  madeUpDataSet,
} from '../tensors/made-up-data-set.ts';
import { openNpyDataSet } from '../tensors/npy/npy-data-set.ts';
import type { TensorDataSet } from '../tensors/tensor-data-set.ts';
import type { DataAsked, DataSource } from './data-source.ts';

/** Options of samples, besides their source. */
interface TensorDataOptions extends Omit<DataAsked, 'source'> {
  readonly onProgress?: PrepareProgress;
}

/**
 * Opens the samples of `--data`; each is one sample of a model's inputs. All files are checked now,
 * and read when they are loaded.
 * @param inputs Inputs of one sample, without the batch axis (resolveInputs); axes may be free if
 *   files define their lengths.
 * @throws MlperfError `ERR_CONFIG_INVALID` (free axes, options without effect), `ERR_DATA_SET`
 *   with the file
 */
export async function openTensorDataSet(
  source: DataSource,
  inputs: readonly OipTensor[],
  { dataSeed, dataCount, onProgress = () => {} }: TensorDataOptions = {},
): Promise<TensorDataSet> {
  if (inputs.length === 0) {
    throw configInvalid(`--data ${source.kind}: the model has no inputs`);
  }
  refuseWithoutEffect(source, { dataSeed, dataCount });
  switch (source.kind) {
    case 'npy':
      return openNpyDataSet(source.folder, inputs, onProgress);
    case 'jsonl':
      return openJsonlDataSet(source.file, inputs, onProgress);
    default:
      requireKnownShapes(inputs);
      return madeUpDataSet(inputs, {
        kind: source.kind,
        seed: dataSeed ?? MADE_UP_SEED_DEFAULT,
        sampleCount: dataCount ?? MADE_UP_COUNT_DEFAULT,
      });
  }
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for a setting without effect. */
function refuseWithoutEffect(
  { kind }: DataSource,
  { dataSeed, dataCount }: Omit<DataAsked, 'source'>,
): void {
  if (dataSeed !== undefined && kind !== 'random') {
    throw configInvalid(`--data-seed is for --data random, not ${kind}`);
  }
  if (dataCount !== undefined && (kind === 'npy' || kind === 'jsonl')) {
    const what = kind === 'npy' ? 'files' : 'lines';
    const message = `--data-count is for --data random and zeros; ${kind} has as many samples as ${what}`;
    throw configInvalid(message);
  }
}
