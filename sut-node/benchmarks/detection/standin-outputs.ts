import type { GraphBuilder, TensorName } from '../../model/onnx/graph-builder.ts';
import type { Candidates } from './standin-graph.ts';

/** Limits of the last sorting: as the real models' own. */
const OVERLAP_MAX = 0.5;
const SCORE_MIN = 0.05;

/** Pixels between classes: their boxes never overlap in the sorting. */
const CLASS_SHIFT = 2000;

/** ONNX's numbers of element types. */
const FLOAT = 1;
const INT64 = 7;

/** Detections of one image: names and forms of the outputs. */
interface SingleOutputs {
  readonly boxes: string;
  readonly scores: string;
  readonly labels: string;
  /** Length of the leading axes of 1: none, or one. */
  readonly leading: readonly 1[];
  /** Boxes are in pixels divided by this. */
  readonly side: number;
  readonly detectionsMax: number;
  /** Label of a kind of object, from its place in the list of kinds: factor and summand. */
  readonly labelOf: readonly [factor: number, summand: number];
}

/** Adds outputs for one image: the best box of those that overlap, per class, sorted by score. */
export function addSingleOutputs(
  graph: GraphBuilder,
  { boxes, scores, labels }: Candidates,
  form: SingleOutputs,
): void {
  const kept = addSuppression(graph, { boxes, scores, labels }, form.detectionsMax);
  const indices = graph.operator('Gather', [kept, integers(graph, [], 2n)], { axis: 1 });
  const { leading } = form;
  const chosen = (input: TensorName, shape: readonly bigint[]) => {
    const rows = graph.operator('Reshape', [input, integers(graph, [shape.length], ...shape)]);
    return graph.operator('Gather', [rows, indices], { axis: 0 });
  };
  const give = (name: string, operator: string, inputs: TensorName[], attributes = {}) => {
    if (leading.length === 0) return graph.operator(operator, inputs, attributes, name);
    const plain = graph.operator(operator, inputs, attributes);
    return graph.operator('Unsqueeze', [plain, integers(graph, [1], 0n)], {}, name);
  };
  const bestBoxes = chosen(boxes, [-1n, 4n]);
  give(form.boxes, 'Div', [bestBoxes, float(graph, form.side)]);
  give(form.scores, 'Identity', [chosen(scores, [-1n])]);
  const [factor, summand] = form.labelOf;
  const product = graph.operator('Mul', [chosen(labels, [-1n]), float(graph, factor)]);
  const label = graph.operator('Add', [product, float(graph, summand)]);
  give(form.labels, 'Cast', [label], { to: INT64 });
  graph.output(form.boxes, 'float', [...leading, 'count', 4]);
  graph.output(form.scores, 'float', [...leading, 'count']);
  graph.output(form.labels, 'int64', [...leading, 'count']);
}

/** Detections of an image in TensorFlow's form. */
const DETECTIONS_OF_IMAGE = 100;

/**
 * Adds outputs for a batch of images as TensorFlow's models of detection have them: 100 detections for each, of which the first
 * ones count; top first, as shares of the side.
 * @param labelOf Label of each kind of object.
 */
export function addBatchOutputs(
  graph: GraphBuilder,
  { boxes, scores, labels }: Candidates,
  names: Readonly<Record<'counts' | 'boxes' | 'scores' | 'labels', string>>,
  side: number,
  labelOf: readonly number[],
): void {
  const kept = addSuppression(graph, { boxes, scores, labels }, DETECTIONS_OF_IMAGE);
  // Scores of all others become 0, and the best of each image are taken.
  const columns = integers(graph, [2], 0n, 2n);
  const places = graph.operator('Gather', [kept, columns], { axis: 1 });
  const zeros = graph.operator('Mul', [scores, float(graph, 0)]);
  const values = graph.operator('GatherND', [scores, places]);
  const masked = graph.operator('ScatterND', [zeros, places, values]);
  const count = integers(graph, [1], BigInt(DETECTIONS_OF_IMAGE));
  const [best, indices] = [names.scores, 'best_places'];
  graph.operatorOf('TopK', [masked, count], { axis: 1 }, [best, indices]);
  const found = graph.operator('Cast', [graph.operator('Greater', [best, float(graph, 0)])], {
    to: FLOAT,
  });
  const sum = [found, integers(graph, [1], 1n)];
  graph.operator('ReduceSum', sum, { keepdims: 0 }, names.counts);
  const axis = integers(graph, [1], -1n);
  const rows = graph.operator('Unsqueeze', [indices, axis]);
  const bestBoxes = graph.operator('GatherND', [boxes, rows], { batch_dims: 1 });
  const topFirst = integers(graph, [4], 1n, 0n, 3n, 2n);
  const turned = graph.operator('Gather', [bestBoxes, topFirst], { axis: 2 });
  graph.operator('Div', [turned, float(graph, side)], {}, names.boxes);
  const kinds = graph.operator('Gather', [labels, indices], { axis: 0 });
  const kind = graph.operator('Cast', [kinds], { to: INT64 });
  const table = graph.constant([labelOf.length], Float32Array.from(labelOf));
  graph.operator('Gather', [table, kind], { axis: 0 }, names.labels);
  graph.output(names.counts, 'float', ['batch']);
  graph.output(names.boxes, 'float', ['batch', DETECTIONS_OF_IMAGE, 4]);
  graph.output(names.scores, 'float', ['batch', DETECTIONS_OF_IMAGE]);
  graph.output(names.labels, 'float', ['batch', DETECTIONS_OF_IMAGE]);
}

/** The best box of those that overlap, per class: image, 0, and place of the candidate; sorted by score. [count, 3] */
function addSuppression(
  graph: GraphBuilder,
  { boxes, scores, labels }: Candidates,
  detectionsMax: number,
): TensorName {
  const shift = graph.operator('Mul', [labels, float(graph, CLASS_SHIFT)]);
  const column = graph.operator('Reshape', [shift, integers(graph, [2], -1n, 1n)]);
  return graph.operator('NonMaxSuppression', [
    graph.operator('Add', [boxes, column]),
    graph.operator('Unsqueeze', [scores, integers(graph, [1], 1n)]),
    integers(graph, [1], BigInt(detectionsMax)),
    graph.constant([1], Float32Array.of(OVERLAP_MAX)),
    graph.constant([1], Float32Array.of(SCORE_MIN)),
  ]);
}

function integers(graph: GraphBuilder, shape: readonly number[], ...values: bigint[]): TensorName {
  return graph.constant(shape, BigInt64Array.from(values));
}

function float(graph: GraphBuilder, value: number): TensorName {
  return graph.constant([], Float32Array.of(value));
}
