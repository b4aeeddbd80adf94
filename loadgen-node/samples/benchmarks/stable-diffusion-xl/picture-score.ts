import type { TurnTaker } from '../../../../shared/base/async.ts';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { PICTURE_BYTES, PICTURE_SIDE } from '../../../../shared/rules/cards/stable-diffusion-xl.ts';
import { pythonFloat } from '../../../loadgen/base/number-format.ts';
import type { AccuracyEntries, AccuracyReport } from '../../data-set/data-set.ts';
import { firstOfEachSample } from '../../data-set/first-of-each.ts';
import {
  type FeatureStatistics,
  featureStatistics,
  frechetDistance,
} from '../../metrics/frechet-distance.ts';
import { encodePng } from './png.ts';

/** Evaluates pictures of 1024 x 1024 x RGB bytes. */
export interface PictureJudge {
  /** Lines for accuracy.txt: the models that compute features. */
  readonly lines: readonly string[];
  /** Features of real pictures. */
  readonly reference: FeatureStatistics;
  features(rgb: Uint8Array): Promise<Float32Array>;
  /** CLIP similarity of picture and caption, -1 to 1. */
  cosine(caption: string, rgb: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/**
 * Sample indices of pictures for reviewers in rounds v4.1 to v5.1; submission/rules/model-rows.ts
 * has the requirement of each round.
 */
const SHOWN: ReadonlySet<number> = new Set([
  ...[4655, 2569, 1303, 109, 4509, 3009, 2179, 1826, 2094, 3340],
  ...[4459, 4015, 2705, 1682, 4048, 4683, 3757, 1578, 3319, 95],
  ...[2747, 2235, 2165, 1515, 1538, 1367, 2419, 4629, 3657, 4532],
]);

/** Folder of those pictures beside accuracy.txt. */
const SHOWN_FOLDER = 'images';

/**
 * FID and CLIP score of a log, as printed by tools/accuracy_coco.py; the first response to a sample
 * counts. Memory: features of all pictures (5,000 x 2,048 float32: 41 MB), one picture, and the
 * reviewers' pictures as PNG.
 * @param captions By sample index.
 * @throws MlperfError `ERR_DATA_SET` if a response is not a picture or is for an unknown sample,
 *   and errors of the judge; errors of `turns`.
 */
export async function scorePictures(
  entries: AccuracyEntries,
  captions: readonly string[],
  metric: string,
  openJudge: () => Promise<PictureJudge>,
  turns?: TurnTaker,
): Promise<AccuracyReport> {
  const judge = await openJudge();
  try {
    const features: Float32Array[] = [];
    const shown = new Map<number, Uint8Array>();
    let cosines = 0;
    for await (const { sampleIndex, response } of firstOfEachSample(entries, captions.length)) {
      const { length } = response;
      if (length !== PICTURE_BYTES) {
        throw dataSetError(
          `sample ${sampleIndex}: a response is ${PICTURE_SIDE} x ${PICTURE_SIDE} x RGB, ${PICTURE_BYTES} bytes; this one has ${length}`,
        );
      }
      features.push(await judge.features(response));
      cosines += await judge.cosine(captions[sampleIndex] as string, response);
      if (SHOWN.has(sampleIndex)) shown.set(sampleIndex, encodePng(response, PICTURE_SIDE));
    }
    const sampleCount = features.length;
    // A single picture has no covariance.
    const fid =
      sampleCount < 2
        ? Number.NaN
        : await frechetDistance(await featureStatistics(features, turns), judge.reference, turns);
    const clip = (100 * cosines) / sampleCount;
    const numbers = `{'FID_SCORE': ${pythonFloat(fid)}, 'CLIP_SCORE': ${pythonFloat(clip)}}`;
    return {
      metric,
      value: clip / 100,
      sampleCount,
      more: { FID_SCORE: fid },
      scriptLine: [...judge.lines, `Accuracy Results: ${numbers}`].join('\n'),
      files: shownFiles(shown, captions),
    };
  } finally {
    await judge.close();
  }
}

/** Pictures and captions for reviewers, as the official script writes them. */
function shownFiles(
  shown: ReadonlyMap<number, Uint8Array>,
  captions: readonly string[],
): Map<string, Uint8Array> {
  if (shown.size === 0) return new Map();
  const lines = [...shown.keys()].map((id) => `${id}  ${captions[id]}\n`);
  return new Map([
    ...[...shown].map(([id, png]) => [`${SHOWN_FOLDER}/${id}.png`, png] as const),
    [`${SHOWN_FOLDER}/captions.txt`, new TextEncoder().encode(lines.join(''))],
  ]);
}
