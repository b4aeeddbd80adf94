import { DETECTION_NORMALISATIONS } from '../../../shared/benchmarks/image/detection.ts';
import {
  OBJECT_GRID,
  OBJECT_NUMBERS,
  OBJECT_PLACE,
  OBJECTS_MAX,
} from '../../../shared/benchmarks/standin/planted-cells.ts';
import {
  DETECTION_IMAGE_SIZES,
  type DetectionBenchmark,
} from '../../../shared/rules/cards/detection.ts';
import { GraphBuilder, integers, type TensorName } from '../../model/onnx/graph-builder.ts';
import { readCells } from '../standin/read-cells.ts';
import { standinBytes } from '../standin/standin-models.ts';
import { Trunk } from '../standin/trunk.ts';
import type { Standin } from '../sut-benchmark.ts';
import type { DetectionOutputs } from './detections.ts';

/** Differences between the models that the stand-ins are for. */
export interface DetectionStandin {
  readonly benchmark: DetectionBenchmark;
  /** The model, for people: `RetinaNet ResNeXt50 800x800`. */
  readonly original: string;
  /** Operations of the real model on an image. */
  readonly flops: number;
  readonly costDefault: number;
  /** Name of the input; with `counts` it takes bytes, height x width x RGB. */
  readonly inputName: string;
  readonly outputs: Omit<DetectionOutputs, 'scoreMin'>;
  /** Output with the detections of each image; absent: one image per inference. */
  readonly counts?: string;
  /** Labels of the kinds of objects. */
  readonly labels: Float32Array | BigInt64Array;
  /** True where the outputs have an axis of images. */
  readonly hasImageAxis: boolean;
}

/** The stand-in for a model of object detection. */
export function detectionStandin(model: DetectionStandin): Standin {
  const { benchmark, original, costDefault, flops } = model;
  // Unlike any model of MLPerf.
  const name = `${benchmark}-standin-fp32`;
  return {
    benchmark,
    original,
    words: { standin: name },
    costDefault,
    make: (_word, cost) => {
      const graph = detectionGraph(model, cost * flops);
      return { [`${name}.onnx`]: standinBytes(graph, { benchmark, original }, cost) };
    },
  };
}

/** Score from which an object is one: empty rows of cells say 0, but for noise. */
const SCORE_MIN = 0.25;

function detectionGraph(model: DetectionStandin, flops: number): GraphBuilder {
  const { benchmark, outputs, counts, labels, hasImageAxis } = model;
  const graph = new GraphBuilder(`${benchmark}-standin`);
  const side = DETECTION_IMAGE_SIZES[benchmark];
  const image = addImage(graph, model);
  const { means, deviations } = DETECTION_NORMALISATIONS[benchmark];
  const range = [-means[0] / deviations[0], (1 - means[0]) / deviations[0]] as const;
  const trunk = new Trunk(graph).images(image, { channels: 3, side, stride: 16, range }, flops);
  const bytes = (share: number): number => 255 * share;
  const cells = readCells(graph, image, {
    ...{ side, grid: OBJECT_GRID },
    ...{ means: means.map(bytes), deviations: deviations.map(bytes) },
  });
  const { row, column } = OBJECT_PLACE;
  const own = graph.operator('Slice', [
    graph.operator('Squeeze', [cells, integers(1)]),
    integers(row, column),
    integers(row + OBJECTS_MAX, column + OBJECT_NUMBERS),
    integers(1, 2),
  ]);
  // From -1 to 1 to 0 to 1.
  const numbers = graph.operator('Mul', [graph.operator('Add', [own, 1]), 0.5]);
  const columns = (...places: number[]): TensorName =>
    graph.operator('Gather', [numbers, integers(...places)], { axis: 2 });
  const column1 = (place: number): TensorName =>
    graph.operator('Squeeze', [columns(place), integers(2)]);
  const seen = graph.operator('Add', [
    column1(0),
    graph.operator('Reshape', [trunk, integers(-1, 1)]),
  ]);
  // Best first.
  const best = 'best_scores';
  graph.operatorOf('TopK', [seen, integers(OBJECTS_MAX)], { axis: 1 }, [best, 'best_places']);
  const places = graph.operator('Unsqueeze', ['best_places', integers(-1)]);
  const chosen = (tensor: TensorName): TensorName =>
    graph.operator('GatherND', [tensor, places], { batch_dims: 1 });
  const give = (name: string, type: 'float' | 'int64', tensor: TensorName, ...rest: number[]) => {
    if (hasImageAxis) graph.operator('Identity', [tensor], {}, name);
    else graph.operator('Squeeze', [tensor, integers(0)], {}, name);
    const axes = counts === undefined ? [1] : ['batch'];
    graph.output(name, type, [...(hasImageAxis ? axes : []), OBJECTS_MAX, ...rest]);
  };
  const corner = columns(2, 3);
  const opposite = graph.operator('Add', [corner, columns(4, 5)]);
  const corners = graph.operator('Concat', [corner, opposite], { axis: 2 });
  const turned = outputs.isTopFirst
    ? graph.operator('Gather', [corners, integers(1, 0, 3, 2)], { axis: 2 })
    : corners;
  const inside = graph.operator('Clip', [turned, 0, 1]);
  give(outputs.boxes, 'float', graph.operator('Mul', [chosen(inside), outputs.side]), 4);
  const isThere = graph.operator('Cast', [graph.operator('Greater', [best, SCORE_MIN])], { to: 1 });
  give(outputs.scores, 'float', graph.operator('Mul', [best, isThere]));
  const kind = graph.operator('Mul', [chosen(column1(1)), labels.length - 1]);
  const rounded = graph.operator('Round', [graph.operator('Clip', [kind, 0, labels.length - 1])]);
  const index = graph.operator('Cast', [rounded], { to: 7 });
  const type = labels instanceof Float32Array ? 'float' : 'int64';
  give(outputs.labels, type, graph.operator('Gather', [labels, index]));
  if (counts !== undefined) {
    graph.operator('ReduceSum', [isThere, integers(1)], { keepdims: 0 }, counts);
    graph.output(counts, 'float', ['batch']);
  }
  return graph;
}

/** Declares the input. @returns Channel x height x width. */
function addImage(graph: GraphBuilder, { benchmark, inputName, counts }: DetectionStandin) {
  const side = DETECTION_IMAGE_SIZES[benchmark];
  if (counts === undefined) return graph.input(inputName, 'float', [1, 3, side, side]);
  const bytes = graph.input(inputName, 'uint8', ['batch', side, side, 3]);
  const numbers = graph.operator('Cast', [bytes], { to: 1 });
  const planes = graph.operator('Transpose', [numbers], { perm: [0, 3, 1, 2] });
  return graph.operator('Mul', [planes, 1 / 255]);
}
