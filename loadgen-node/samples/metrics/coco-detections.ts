import { dataSetError } from '../../../shared/base/errors/mlperf-error.ts';
import { DETECTION_FLOATS } from '../../../shared/rules/cards/detection.ts';
import type { CocoAnnotations, CocoObject } from './coco-annotations.ts';

/** Most detections per image and category: only the best count. */
const DETECTIONS_MAX = 100;

/**
 * Parses the detections of a response.
 * @returns {@link DETECTION_FLOATS} numbers per detection; empty without detections.
 * @throws MlperfError `ERR_DATA_SET` if the bytes are not detections, or contain a number that is
 *   not finite.
 */
export function readDetections(response: Uint8Array, sampleIndex: number): Float32Array {
  const floats = new Float32Array(new Uint8Array(response).buffer, 0, response.length >> 2);
  // As in the script: too few bytes for one detection mean none.
  if (response.length % 4 === 0 && floats.length < DETECTION_FLOATS) return NONE;
  if (response.length % (DETECTION_FLOATS * 4) !== 0) {
    throw dataSetError(
      `sample ${sampleIndex}: a response is ${DETECTION_FLOATS} float32 for each detection, ${DETECTION_FLOATS * 4} bytes; ` +
        `this one has ${response.length} bytes`,
    );
  }
  const place = floats.findIndex((value) => !Number.isFinite(value));
  if (place === -1) return floats;
  throw dataSetError(
    `sample ${sampleIndex}: number ${place % DETECTION_FLOATS} of detection ${Math.floor(place / DETECTION_FLOATS)} ` +
      `is ${floats[place]}`,
  );
}

const NONE = new Float32Array(0);

/** Detections and objects of one category in one image. */
interface ImageOfCategory {
  readonly boxes: Float64Array;
  readonly scores: Float32Array;
  readonly objects: readonly CocoObject[];
}

/** Detections and objects of one category in all images. */
export interface CategoryGroup {
  readonly detectionCount: number;
  /** Images with detections in id order, then those without. */
  images(): Iterable<ImageOfCategory>;
}

/** An image with a response: only these are evaluated. */
type EvaluatedImage = CocoAnnotations['images'][number] & {
  readonly sampleIndex: number;
  readonly floats: Float32Array;
};

/**
 * Groups detections and objects by category, in order of category id. Those of categories not in
 * the file are dropped, as in pycocotools.
 * @throws MlperfError `ERR_DATA_SET` without any detection, and for an unknown label.
 */
export function groupByCategory(
  annotations: CocoAnnotations,
  responses: ReadonlyMap<number, Float32Array>,
  useInvMap: boolean,
): CategoryGroup[] {
  const images = [...responses]
    .map(([sampleIndex, floats]) => {
      const image = annotations.images[sampleIndex] as CocoAnnotations['images'][number];
      return { ...image, sampleIndex, floats };
    })
    .sort((a, b) => a.id - b.id);
  const ids = annotations.categories.map(({ id }) => id).sort((a, b) => a - b);
  const places = new Map(ids.map((id, place) => [id, place]));
  const detections = groupDetections(
    images,
    ids.length,
    placeFinder(annotations, places, useInvMap),
  );
  const objects = ids.map(() => new Map<number, CocoObject[]>());
  const imageOfId = new Map(images.map(({ id }, image) => [id, image]));
  for (const object of annotations.annotations) {
    const image = imageOfId.get(object.image_id);
    const own = objects[places.get(object.category_id) ?? -1];
    if (image === undefined || own === undefined) continue;
    const ofImage = own.get(image);
    if (ofImage === undefined) own.set(image, [object]);
    else ofImage.push(object);
  }
  return detections.map((own, place) => ({
    detectionCount: own.length,
    images: () => imagesOfCategory(images, own, objects[place] as Map<number, CocoObject[]>),
  }));
}

/** Factor for unique detection positions: image * this + number of the detection. */
const DETECTIONS_OF_IMAGE_MAX = 2 ** 32;

/** Detections per category as position numbers, in image and log order. */
function groupDetections(
  images: readonly EvaluatedImage[],
  categoryCount: number,
  placeOf: (label: number, sampleIndex: number) => number | undefined,
): number[][] {
  const groups: number[][] = Array.from({ length: categoryCount }, () => []);
  let total = 0;
  for (const [image, { floats, sampleIndex }] of images.entries()) {
    const count = Math.floor(floats.length / DETECTION_FLOATS);
    total += count;
    for (let i = 0; i < count; i += 1) {
      const place = placeOf(floats[i * DETECTION_FLOATS + 6] as number, sampleIndex);
      if (place !== undefined) groups[place]?.push(image * DETECTIONS_OF_IMAGE_MAX + i);
    }
  }
  if (total === 0) throw noDetection(images.length);
  return groups;
}

function noDetection(imageCount: number) {
  if (imageCount === 0) return dataSetError('the log has no response, so there is no mAP');
  return dataSetError(
    `none of the ${imageCount} responses has a detection, so there is no mAP (MLCommons' script ends with an IndexError ` +
      'here): a SUT answers with 7 float32 per detection, of a model that fits the data set',
  );
}

/** Returns a function from label to category index; undefined for an unknown category. */
function placeFinder(
  { categories }: CocoAnnotations,
  places: ReadonlyMap<number, number>,
  useInvMap: boolean,
) {
  // As in the script's list: label 0 is id 0.
  const ids = [0, ...categories.map(({ id }) => id)];
  return (label: number, sampleIndex: number): number | undefined => {
    const whole = Math.trunc(label); // As Python's int().
    const id = useInvMap ? ids[whole] : whole;
    if (id !== undefined) return places.get(id);
    throw dataSetError(
      `sample ${sampleIndex}: the label ${label} is not one of the ${categories.length} categories, counted from 1`,
    );
  };
}

function* imagesOfCategory(
  images: readonly EvaluatedImage[],
  detections: readonly number[],
  objects: ReadonlyMap<number, CocoObject[]>,
): Generator<ImageOfCategory> {
  const imageAt = (i: number): number =>
    Math.floor((detections[i] as number) / DETECTIONS_OF_IMAGE_MAX);
  const left = new Map(objects);
  for (let i = 0; i < detections.length; ) {
    const image = imageAt(i);
    const offsets: number[] = [];
    for (; i < detections.length && imageAt(i) === image; i += 1) {
      offsets.push(((detections[i] as number) % DETECTIONS_OF_IMAGE_MAX) * DETECTION_FLOATS);
    }
    const { floats, ...size } = images[image] as EvaluatedImage;
    const scoreAt = (offset: number): number => floats[offset + 5] as number;
    // Ties keep log order.
    const best = offsets.sort((a, b) => scoreAt(b) - scoreAt(a)).slice(0, DETECTIONS_MAX);
    const scores = Float32Array.from(best, scoreAt);
    yield { boxes: boxesOf(floats, best, size), scores, objects: left.get(image) ?? [] };
    left.delete(image);
  }
  const none = { boxes: new Float64Array(0), scores: new Float32Array(0) };
  for (const own of left.values()) yield { ...none, objects: own };
}

/** Boxes of consecutive detections: left, top, width and height in pixels. */
function boxesOf(
  floats: Float32Array,
  offsets: readonly number[],
  { width, height }: { readonly width: number; readonly height: number },
): Float64Array {
  const boxes = new Float64Array(offsets.length * 4);
  for (let i = 0; i < offsets.length; i += 1) {
    const at = offsets[i] as number;
    const top = (floats[at + 1] as number) * height;
    const left = (floats[at + 2] as number) * width;
    boxes[i * 4] = left;
    boxes[i * 4 + 1] = top;
    boxes[i * 4 + 2] = (floats[at + 4] as number) * width - left;
    boxes[i * 4 + 3] = (floats[at + 3] as number) * height - top;
  }
  return boxes;
}
