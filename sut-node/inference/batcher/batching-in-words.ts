import { formatNs } from '../../../shared/base/text/duration.ts';
import type { BatchSettings } from '../../settings/batch-settings.ts';
import { type BatchNeeds, batchPolicy } from './batch-policy.ts';

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
