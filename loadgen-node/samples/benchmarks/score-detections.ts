import type { TurnTaker } from '../../../shared/base/async.ts';
import { formatFixed } from '../../loadgen/base/number-format.ts';
import type { AccuracyEntries, AccuracyReport } from '../data-set/data-set.ts';
import { firstOfEachSample } from '../data-set/first-of-each.ts';
import type { CocoAnnotations } from '../metrics/coco-annotations.ts';
import { readDetections } from '../metrics/coco-detections.ts';
import { scoreCoco } from '../metrics/coco-map.ts';

/**
 * COCO's mAP of a log, as printed by MLCommons' accuracy-openimages.py and accuracy-coco.py; the
 * first response to a sample counts. Memory: 36 bytes per detection, plus 25 per detection of one
 * category. The first number of a detection (sample index) is ignored: the scripts only print a
 * line if it differs from the log's.
 * @param useInvMap As in {@link scoreCoco}.
 * @throws MlperfError `ERR_DATA_SET` if a response is not detections or is for an unknown sample,
 *   and if no response has a detection.
 */
export async function scoreDetections(
  entries: AccuracyEntries,
  annotations: CocoAnnotations,
  metric: string,
  useInvMap: boolean,
  turns?: TurnTaker,
): Promise<AccuracyReport> {
  const responses = new Map<number, Float32Array>();
  for await (const entry of firstOfEachSample(entries, annotations.images.length)) {
    const { sampleIndex, response } = entry;
    responses.set(sampleIndex, readDetections(response, sampleIndex));
  }
  const { mAP, lines } = await scoreCoco(annotations, responses, useInvMap, turns);
  // As printed.
  const value = Number(formatFixed(100 * mAP, 3)) / 100;
  return { metric, value, sampleCount: responses.size, scriptLine: lines.join('\n') };
}
