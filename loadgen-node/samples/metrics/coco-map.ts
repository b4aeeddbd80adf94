import { LoopTurns, type TurnTaker } from '../../../shared/base/async.ts';
import { formatFixed } from '../../loadgen/base/number-format.ts';
import type { CocoAnnotations } from './coco-annotations.ts';
import { type CategoryGroup, groupByCategory } from './coco-detections.ts';
import { matchDetections, THRESHOLDS } from './coco-match.ts';
import { numpyMean } from './numpy-mean.ts';

// COCO's mean average precision of boxes, as computed by pycocotools' COCOeval: the same to the
// last bit, with sums in NumPy's order, so that printed digits are equal.

/** Recall levels at which precision is read: 0, 0.01, ... 1. */
const RECALL_POINTS: readonly number[] = Array.from({ length: 101 }, (_, i) => i * 0.01);

/** NumPy's `spacing(1)`, added to a divisor that may be 0. */
const TINY = 2 ** -52;

/**
 * Area ranges in square pixels. Objects and detections outside a range are ignored: neither right
 * nor wrong.
 */
const AREAS = [
  { name: 'all', from: 0, to: 1e10 },
  { name: 'small', from: 0, to: 32 ** 2 },
  { name: 'medium', from: 32 ** 2, to: 96 ** 2 },
  { name: 'large', from: 96 ** 2, to: 1e10 },
] as const;

/** The printed figures; `threshold` is an index into {@link THRESHOLDS}, undefined for all. */
const FIGURES = [
  { kind: 'precision', area: 0, detectionsMax: 100 },
  { kind: 'precision', area: 0, detectionsMax: 100, threshold: 0 },
  { kind: 'precision', area: 0, detectionsMax: 100, threshold: 5 },
  { kind: 'precision', area: 1, detectionsMax: 100 },
  { kind: 'precision', area: 2, detectionsMax: 100 },
  { kind: 'precision', area: 3, detectionsMax: 100 },
  { kind: 'recall', area: 0, detectionsMax: 1 },
  { kind: 'recall', area: 0, detectionsMax: 10 },
  { kind: 'recall', area: 0, detectionsMax: 100 },
  { kind: 'recall', area: 1, detectionsMax: 100 },
  { kind: 'recall', area: 2, detectionsMax: 100 },
  { kind: 'recall', area: 3, detectionsMax: 100 },
] as const;

/** Evaluation for one area range and one limit of detections: one row per category with objects. */
interface Curves {
  readonly area: number;
  readonly detectionsMax: number;
  /** Per category: precision by threshold and recall level, row-major. */
  readonly precisions: Float64Array[];
  /** Per category: recall reached, by threshold. */
  readonly recalls: Float64Array[];
}

/** Detections of one category over all images. */
interface Outcomes {
  /** Indices into the arrays below, best first, ties by image. */
  readonly order: Uint32Array;
  /** Rank among the detections of its image and category, from 0. */
  readonly ranks: Uint8Array;
  /** Per area range: bits from {@link matchDetections}. */
  readonly flags: readonly Uint32Array[];
  /** Per area range: number of counted objects. */
  readonly objectCounts: number[];
}

/**
 * Scores detections by COCO's metric. Images without an entry in `responses` are not evaluated;
 * those with an empty entry are.
 * @param responses By sample index: 7 numbers per detection. Fewer than 7 numbers in total mean
 *   no detections.
 * @param useInvMap True: labels are category numbers from 1 in file order, as with the script's
 *   `--use-inv-map`; false: labels are ids.
 * @returns mAP from 0 to 1, -1 if no object counts; `lines`: the twelve of pycocotools, then the
 *   script's `mAP=..%`.
 * @throws MlperfError `ERR_DATA_SET` for responses without any detection, and for an unknown
 *   label; errors of `turns`. Source: MLCommons inference,
 *   vision/classification_and_detection/tools/accuracy-openimages.py.
 */
export async function scoreCoco(
  annotations: CocoAnnotations,
  responses: ReadonlyMap<number, Float32Array>,
  useInvMap: boolean,
  turns: TurnTaker = new LoopTurns(),
): Promise<{ readonly mAP: number; readonly lines: readonly string[] }> {
  const curves = new Map<string, Curves>(
    FIGURES.map((figure) => [keyOf(figure), { ...figure, precisions: [], recalls: [] }]),
  );
  for (const category of groupByCategory(annotations, responses, useInvMap)) {
    const outcomes = await matchCategory(category, turns);
    for (const own of curves.values()) addCurves(own, outcomes);
  }
  const values = FIGURES.map((figure) => meanOf(figure, curves));
  const [mAP] = values as [number];
  const lines = FIGURES.map((figure, i) => lineOf(figure, values[i] as number));
  return { mAP, lines: [...lines, `mAP=${formatFixed(100 * mAP, 3)}%`] };
}

async function matchCategory(
  { detectionCount: countMax, images }: CategoryGroup,
  turns: TurnTaker,
): Promise<Outcomes> {
  const scores = new Float32Array(countMax);
  const ranks = new Uint8Array(countMax);
  const flags = AREAS.map(() => new Uint32Array(countMax));
  const objectCounts = AREAS.map(() => 0);
  let count = 0;
  for (const image of images()) {
    if (turns.isDue) await turns.take();
    for (const [area, range] of AREAS.entries()) {
      const own = (flags[area] as Uint32Array).subarray(count);
      const found = matchDetections(image.boxes, image.objects, range, own);
      objectCounts[area] = (objectCounts[area] as number) + found;
    }
    scores.set(image.scores, count);
    for (let rank = 0; rank < image.scores.length; rank += 1) ranks[count + rank] = rank;
    count += image.scores.length;
  }
  const order = Uint32Array.from({ length: count }, (_, i) => i).sort(
    (a, b) => (scores[b] as number) - (scores[a] as number) || a - b,
  );
  return { order, ranks, flags, objectCounts };
}

const keyOf = ({ area, detectionsMax }: Pick<Curves, 'area' | 'detectionsMax'>): string =>
  `${area} ${detectionsMax}`;

/** Adds a category; skipped if it has no counted objects. */
function addCurves(curves: Curves, { order, ranks, flags, objectCounts }: Outcomes): void {
  const { area, detectionsMax } = curves;
  const objectCount = objectCounts[area] as number;
  if (objectCount === 0) return;
  const kept = order.filter((i) => (ranks[i] as number) < detectionsMax);
  const precisions = new Float64Array(THRESHOLDS.length * RECALL_POINTS.length);
  const recalls = new Float64Array(THRESHOLDS.length);
  for (const t of THRESHOLDS.keys()) {
    const curve = precisions.subarray(t * RECALL_POINTS.length, (t + 1) * RECALL_POINTS.length);
    recalls[t] = drawCurve(kept, flags[area] as Uint32Array, t, objectCount, curve);
  }
  curves.precisions.push(precisions);
  curves.recalls.push(recalls);
}

/**
 * Precision at the recall levels, for one threshold.
 * @param order Detections, best first.
 * @returns The recall reached.
 */
function drawCurve(
  order: Uint32Array,
  flags: Uint32Array,
  threshold: number,
  objectCount: number,
  curve: Float64Array,
): number {
  const recalls = new Float64Array(order.length);
  const precisions = new Float64Array(order.length);
  let length = 0;
  let right = 0;
  for (const i of order) {
    const bits = (flags[i] as number) >>> threshold;
    if ((bits & IGNORED_BIT) !== 0) continue;
    right += bits & 1;
    recalls[length] = right / objectCount;
    precisions[length] = right / (length + 1 + TINY);
    length += 1;
  }
  for (let i = length - 1; i > 0; i -= 1) {
    const earlier = precisions[i - 1] as number;
    precisions[i - 1] = Math.max(earlier, precisions[i] as number);
  }
  let at = 0;
  for (const [point, recall] of RECALL_POINTS.entries()) {
    while (at < length && (recalls[at] as number) < recall) at += 1;
    curve[point] = at < length ? (precisions[at] as number) : 0;
  }
  return length === 0 ? 0 : (recalls[length - 1] as number);
}

/** Bit in the flags, shifted by the threshold, for an ignored detection. */
const IGNORED_BIT: number = 1 << THRESHOLDS.length;

type Figure = (typeof FIGURES)[number];

/** Mean over thresholds, recall levels and categories; -1 without any. */
function meanOf(figure: Figure, curves: ReadonlyMap<string, Curves>): number {
  const { precisions, recalls } = curves.get(keyOf(figure)) as Curves;
  const rows = figure.kind === 'precision' ? precisions : recalls;
  const perThreshold = figure.kind === 'precision' ? RECALL_POINTS.length : 1;
  const [from, to] =
    'threshold' in figure ? [figure.threshold, figure.threshold + 1] : [0, THRESHOLDS.length];
  const values = new Float64Array((to - from) * perThreshold * rows.length);
  let next = 0;
  for (let i = from * perThreshold; i < to * perThreshold; i += 1) {
    for (const row of rows) {
      values[next] = row[i] as number;
      next += 1;
    }
  }
  return values.length === 0 ? -1 : numpyMean(values);
}

/** Line in pycocotools' format. */
function lineOf(figure: Figure, value: number): string {
  const [title, type] =
    figure.kind === 'precision' ? ['Average Precision', '(AP)'] : ['Average Recall', '(AR)'];
  const threshold =
    'threshold' in figure ? formatFixed(THRESHOLDS[figure.threshold] as number, 2) : '0.50:0.95';
  const { name } = AREAS[figure.area];
  return (
    ` ${title.padEnd(18)} ${type} @[ IoU=${threshold.padEnd(9)} | area=${name.padStart(6)} | ` +
    `maxDets=${String(figure.detectionsMax).padStart(3)} ] = ${formatFixed(value, 3)}`
  );
}
