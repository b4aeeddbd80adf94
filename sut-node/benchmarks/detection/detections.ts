import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { DETECTION_FLOATS } from '../../../shared/rules/cards/detection.ts';
import type { OutputTensor, TensorElements } from '../../model/model-facts.ts';

/** Outputs of a detection model. */
export interface DetectionOutputs {
  /** Output names, since exporters order outputs differently. */
  readonly boxes: string;
  readonly scores: string;
  readonly labels: string;
  /** True for boxes as top, left, bottom, right; false for left, top, right, bottom. */
  readonly isTopFirst: boolean;
  /** Boxes are fractions of the image times this. */
  readonly side: number;
  /** The list of detections ends at the first lower score. */
  readonly scoreMin: number;
}

/**
 * Response of one image. The first number of each detection, the sample index, is 0: a SUT over the
 * network does not know it, and no score depends on it.
 * @param row Image in the batch; default: the only one. @param rowCount Images in the batch.
 * @param countMax Number of detections that the model reports; default: all.
 * @throws MlperfError `ERR_MODEL` if the numbers of boxes, scores and labels differ.
 */
export function detectionsOf(
  outputs: ReadonlyMap<string, OutputTensor>,
  form: DetectionOutputs,
  { row = 0, rowCount = 1, countMax = Number.POSITIVE_INFINITY } = {},
): Uint8Array {
  const elementsOf = (name: string): TensorElements | [] => outputs.get(name)?.data ?? [];
  const boxes = elementsOf(form.boxes);
  const scores = elementsOf(form.scores);
  const labels = elementsOf(form.labels);
  if (boxes.length !== scores.length * 4 || labels.length !== scores.length) {
    throw modelError(
      `the model gave ${boxes.length} numbers of boxes, ${scores.length} scores and ${labels.length} labels: ` +
        'expected 4 numbers and a label for each score',
    );
  }
  const perRow = scores.length / rowCount;
  const from = row * perRow;
  const to = from + Math.min(perRow, countMax);
  let end = from;
  // A NaN is not below the limit: the scorer reports it.
  while (end < to && !((scores[end] as number) < form.scoreMin)) end += 1;
  const detections = new Float32Array((end - from) * DETECTION_FLOATS);
  const [top, left, bottom, right] = form.isTopFirst ? [0, 1, 2, 3] : [1, 0, 3, 2];
  for (let i = from, at = 0; i < end; i += 1, at += DETECTION_FLOATS) {
    const share = (corner: number): number => (boxes[i * 4 + corner] as number) / form.side;
    detections[at + 1] = share(top);
    detections[at + 2] = share(left);
    detections[at + 3] = share(bottom);
    detections[at + 4] = share(right);
    detections[at + 5] = scores[i] as number;
    detections[at + 6] = Number(labels[i]);
  }
  return new Uint8Array(detections.buffer);
}
