import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs } from '../../../shared/base/text.ts';
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
interface BatchNeeds {
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
    throw configInvalid(
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

/**
 * How the node batches queries for processing, in sentences made from the settings that are in force: what a
 * submission must tell (rule: inference_rules, "Online batching, meaning how the server batches queries for
 * processing").
 * @param needs What the model demands, once it is loaded.
 * @throws MlperfError `ERR_CONFIG_INVALID` as {@link batchPolicy}
 */
export function batchingInWords(settings: BatchSettings, needs: BatchNeeds = {}): string {
  const { batchSizeMax, batchDelayNsMax, preferredSizes } = batchPolicy(settings, needs);
  const { batchSizeFixed } = needs;
  const smaller = preferredSizes.slice(0, -1);
  const sentences =
    batchSizeMax === 1
      ? [
          'Nothing is batched: every sample is an inference of its own, and none waits for another.',
          'Samples are taken in the order of their arrival.',
        ]
      : [
          'Batches are formed while the node runs: samples that wait at the same time, of any query and any ' +
            'stream, are joined in the order of their arrival into one inference of at most ' +
            `${batchSizeMax} samples.`,
          `A batch of ${batchSizeMax} goes out as soon as so many wait and a worker has room for it, which it ` +
            'has while it is idle or runs one batch with none behind it.',
          ...(smaller.length === 0
            ? []
            : [
                `An idle worker gets a batch of ${listed(smaller)} samples as soon as so many wait, the ` +
                  'largest of these sizes that is filled.',
              ]),
          batchDelayNsMax === 0
            ? 'An idle worker gets whatever waits at once: no sample waits for a fuller batch.'
            : 'Otherwise an idle worker gets what waits when the oldest sample has waited ' +
              `${formatNs(batchDelayNsMax)}, which counts towards its latency.`,
          'Samples that the model cannot take together, for example of different shapes, are never in one ' +
            'batch; those whose oldest sample waits longest go first.',
        ];
  if (batchSizeFixed !== undefined && batchSizeFixed > 1) {
    sentences.push(
      `The model has a fixed batch of ${batchSizeFixed}: a smaller batch is filled up, and what fills it ` +
        'is not counted as samples.',
    );
  }
  sentences.push('Equal samples are never merged, and no result is kept for another sample.');
  return sentences.join(' ');
}

/** `2, 4 or 8`. */
function listed(sizes: readonly number[]): string {
  const last = sizes.at(-1);
  return sizes.length === 1 ? `${last}` : `${sizes.slice(0, -1).join(', ')} or ${last}`;
}
