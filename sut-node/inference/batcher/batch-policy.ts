import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import {
  BATCH_SIZE_MAX,
  type BatchPreset,
  type BatchSettings,
} from '../../settings/batch-settings.ts';

const PRESETS_OF_QUERIES: ReadonlySet<BatchPreset> = new Set(['single-stream', 'multi-stream']);

/** When the batcher closes a batch, and how large it may be. */
export interface BatchPolicy {
  readonly batchSizeMax: number;
  /** Longest wait of the oldest sample for a fuller batch while a worker is idle. */
  readonly batchDelayNsMax: number;
  /**
   * Sizes, ascending, that an idle worker gets without waiting for more; the last one is
   * {@link batchSizeMax}, which always is one of them.
   */
  readonly preferredSizes: readonly number[];
}

/** What a loaded model demands of batches. */
export interface BatchNeeds {
  /** Samples per inference where the model has that written into it. */
  readonly batchSizeFixed?: number | undefined;
}

/**
 * The policy that settings and model make together. A model whose batch axis has a fixed length gets no
 * larger batches (the worker fills up smaller ones), whatever the settings allow; and as large ones where nobody
 * said otherwise, since an inference of it costs the same however many samples it holds.
 * @throws MlperfError `ERR_CONFIG_INVALID` for a preferred size that could never be reached.
 */
export function batchPolicy(settings: BatchSettings, needs: BatchNeeds = {}): BatchPolicy {
  const { batchPreferredSizes, batchDelayUsMax } = settings;
  const batchSizeMax = sizeMaxOf(settings, needs.batchSizeFixed);
  // Those above the model's own batch are only not needed.
  const allowedMax = Math.max(batchSizeMax, settings.batchSizeMax);
  const tooLarge = batchPreferredSizes.find((size) => size > allowedMax);
  if (tooLarge !== undefined) {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `--batch-preferred-sizes ${tooLarge}: larger than the largest batch, ${allowedMax} ` +
        '(--batch-size-max)',
    );
  }
  const sizes = new Set(batchPreferredSizes.filter((size) => size < batchSizeMax));
  return {
    batchSizeMax,
    batchDelayNsMax: batchDelayUsMax * 1_000,
    preferredSizes: [...[...sizes].sort((a, b) => a - b), batchSizeMax],
  };
}

/** A preset for queries of few samples keeps its number: a batch that no query fills would only wait. */
function sizeMaxOf(settings: BatchSettings, sizeFixed: number | undefined): number {
  const { batchPreset, batchSizeAsked, batchSizeMax } = settings;
  if (sizeFixed === undefined) return batchSizeMax;
  const isSaid = batchSizeAsked !== undefined || PRESETS_OF_QUERIES.has(batchPreset);
  return Math.min(sizeFixed, isSaid ? batchSizeMax : BATCH_SIZE_MAX);
}

/**
 * How many samples a batch takes, by the number that wait (up to `batchSizeMax`, where the list ends):
 * the largest preferred size that they fill, or all where they fill none.
 */
export function batchSizes({ preferredSizes, batchSizeMax }: BatchPolicy): Uint16Array {
  const sizes = new Uint16Array(batchSizeMax + 1);
  for (let waiting = 0; waiting <= batchSizeMax; waiting += 1) {
    sizes[waiting] = preferredSizes.findLast((size) => size <= waiting) ?? waiting;
  }
  return sizes;
}
