import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { DETECTION_FLOATS } from '../../../shared/rules/cards/detection.ts';
import type { OutputTensor, TensorElements } from '../../model/model-facts.ts';

/** How a model tells what it found. */
export interface DetectionOutputs {
  /** Outputs, by name: exporters order them differently. */
  readonly boxes: string;
  readonly scores: string;
  readonly labels: string;
  /** True where a box is top, left, bottom, right; false where it is left, top, right, bottom. */
  readonly isTopFirst: boolean;
  /** Boxes are shares of the image times this. */
  readonly side: number;
  /** Detections end at the first score below. */
  readonly scoreMin: number;
}

/**
 * Response of one image. The first number of each detection, the index of the sample, is 0: a SUT over the network does not get to
 * know it, and no score depends on it.
 * @param row Which image of the batch; default: the only one. @param rowCount Images of the batch.
 * @param countMax Detections that the model says there are; default: all.
 * @throws MlperfError `ERR_MODEL` when the outputs do not have as many boxes, scores and labels.
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
  // A NaN is not below: the scorer names it.
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
