import type { CocoObject } from './coco-annotations.ts';

/**
 * Overlaps (intersection over union) from which a detection matches an object: 0.5, 0.55, ... 0.95,
 * with the values of NumPy's linspace.
 */
export const THRESHOLDS: readonly number[] = Array.from({ length: 10 }, (_, i) =>
  i === 9 ? 0.95 : i * ((0.95 - 0.5) / 9) + 0.5,
);

/** Slightly below 1, so that a perfect overlap meets every threshold. */
const OVERLAP_ASKED_MAX = 1 - 1e-10;

/** An object, and whether it counts or is ignored. */
interface Candidate {
  readonly object: CocoObject;
  readonly isIgnored: boolean;
}

/**
 * Matches detections of one category in one image to objects. Each takes the free object with the
 * largest overlap (the last of ties); ignored objects (groups, other sizes) come last, and a group
 * can match many times.
 * @param boxes Boxes of detections, best first: left, top, width and height.
 * @param objects Objects of the same image and category.
 * @param area Range of counted sizes, in square pixels.
 * @param flags Filled per detection: bit `t`: matched an object at threshold `t`; bit `t + 10`:
 *   ignored there.
 * @returns Number of counted objects.
 */
export function matchDetections(
  boxes: Float64Array,
  objects: readonly CocoObject[],
  area: { readonly from: number; readonly to: number },
  flags: Uint32Array,
): number {
  const isOutside = (size: number): boolean => size < area.from || size > area.to;
  for (let i = 0, at = 0; at < boxes.length; i += 1, at += 4) {
    const size = (boxes[at + 2] as number) * (boxes[at + 3] as number);
    flags[i] = isOutside(size) ? ALL_IGNORED : 0;
  }
  if (objects.length === 0) return 0;
  const isIgnored = (object: CocoObject): boolean => object.iscrowd !== 0 || isOutside(object.area);
  const counted = objects.filter((object) => !isIgnored(object));
  const ignored = objects.filter(isIgnored);
  const candidates: Candidate[] = [
    ...counted.map((object) => ({ object, isIgnored: false })),
    ...ignored.map((object) => ({ object, isIgnored: true })),
  ];
  const overlaps = overlapsOf(boxes, candidates);
  for (const [t, threshold] of THRESHOLDS.entries()) {
    const isTaken = new Uint8Array(candidates.length);
    for (let i = 0; i < boxes.length / 4; i += 1) {
      const own = overlaps.subarray(i * candidates.length, (i + 1) * candidates.length);
      const place = findObject(candidates, own, isTaken, threshold);
      if (place === undefined) continue;
      isTaken[place] = 1;
      flags[i] = withMatch(flags[i] as number, t, candidates[place] as Candidate);
    }
  }
  return counted.length;
}

const ALL_IGNORED: number = ((1 << THRESHOLDS.length) - 1) << THRESHOLDS.length;

/** COCOeval stores a match as the object's id, so an object with id 0 counts as no match. */
function withMatch(flags: number, t: number, { object, isIgnored }: Candidate): number {
  const ignoredBit = 1 << (t + THRESHOLDS.length);
  if (isIgnored) return flags | (1 << t) | ignoredBit;
  return object.id === 0 ? flags : (flags | (1 << t)) & ~ignoredBit;
}

function findObject(
  candidates: readonly Candidate[],
  overlaps: Float64Array,
  isTaken: Uint8Array,
  threshold: number,
): number | undefined {
  let asked = Math.min(threshold, OVERLAP_ASKED_MAX);
  let found: number | undefined;
  for (const [place, { object, isIgnored }] of candidates.entries()) {
    if (isTaken[place] === 1 && object.iscrowd === 0) continue;
    // Counted objects take precedence over ignored ones, however well those fit.
    if (found !== undefined && isIgnored && candidates[found]?.isIgnored === false) break;
    const overlap = overlaps[place] as number;
    if (overlap < asked) continue;
    asked = overlap;
    found = place;
  }
  return found;
}

/**
 * Intersection over union of each detection with each object; for a group, the share of the
 * detection that it covers.
 */
function overlapsOf(boxes: Float64Array, candidates: readonly Candidate[]): Float64Array {
  const overlaps = new Float64Array((boxes.length / 4) * candidates.length);
  let next = 0;
  for (let at = 0; at < boxes.length; at += 4) {
    const [left, top, width, height] = boxes.subarray(at, at + 4) as unknown as Box;
    for (const { object } of candidates) {
      const [objectLeft, objectTop, objectWidth, objectHeight] = object.bbox;
      const right = Math.min(width + left, objectWidth + objectLeft);
      const bottom = Math.min(height + top, objectHeight + objectTop);
      const sharedWidth = right - Math.max(left, objectLeft);
      const sharedHeight = bottom - Math.max(top, objectTop);
      if (sharedWidth > 0 && sharedHeight > 0) {
        const shared = sharedWidth * sharedHeight;
        const own = width * height;
        const union = object.iscrowd === 0 ? own + objectWidth * objectHeight - shared : own;
        overlaps[next] = shared / union;
      }
      next += 1;
    }
  }
  return overlaps;
}

type Box = readonly [number, number, number, number];
