import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { DETECTION_NORMALISATIONS } from '../../../shared/benchmarks/image/detection.ts';
import { STANDIN_OBJECT_CLASSES } from '../../../shared/benchmarks/standin/standin-objects.ts';
import {
  DETECTION_IMAGE_SIZES,
  type DetectionBenchmark,
} from '../../../shared/rules/cards/detection.ts';
import { GraphBuilder, type ModelProto, type TensorName } from '../../model/onnx/graph-builder.ts';

// The stand-ins have the inputs, outputs and cost of the models, and find objects that longhaul draws itself:
//
//   image ─► trunk: convolutions of random weights ─► one number, x 1e-30 ────────────────────────────────┐
//     └────► branch: a map per colour ─► 4 sizes ─► sums in windows ─► boxes, scores ─► sort out ─► outputs (+)
//
// The trunk makes the cost: no result can be had without it, and its number is too small to change one. The branch makes the
// mAP: in a window around a single object the mean of its pixels' places is its centre, and their variance tells its sides.
// Noise, other colours, objects beside each other and JPEG make it wrong, as they do real detectors.

/** Differences between the models that the stand-ins are for. */
export interface StandinForm {
  readonly benchmark: DetectionBenchmark;
  /** The model, for people: `RetinaNet ResNeXt50 800x800`. */
  readonly title: string;
  /** Operations of the real model on an image. */
  readonly realFlops: number;
  /** Share of them that is made where none is asked for. */
  readonly costDefault: number;
  /** Pixels of a cell of the finest map: a power of two from 2 on. The colours of half a cell are told apart. */
  readonly cellPixels: number;
  readonly input: { readonly name: string; readonly isBytes: boolean };
  /** Adds the operators that sort out the candidates, and the outputs. */
  addOutputs(graph: GraphBuilder, candidates: Candidates): void;
}

const CLASS_COUNT: number = STANDIN_OBJECT_CLASSES.length;

/** Squared distances from a class's colour: up to the first a pixel is the class's, from the second on it is not. */
const DISTANCE_SURE = 0.05;
const DISTANCE_OTHER = 0.11;

/** Maps, each of half as many cells as the one before. */
const LEVEL_COUNT = 4;

/** Cells of a window's side, and between windows. */
const WINDOW = 16;
const WINDOW_STEP = 2;

/** Sums along a row: of the map, times x, times x^2. */
const ROW_SUMS = [
  [0, 0],
  [0, 1],
  [0, 2],
] as const;

/** Sums of those along a column: of the map, times x, times y, times x^2, times y^2. */
const COLUMN_SUMS = [
  [0, 0],
  [1, 0],
  [0, 1],
  [2, 0],
  [0, 2],
] as const;

/** Sides of an object, in cells, from which a window no longer holds it with room around it. */
const SIDE_MAX = 12;

/** Lost score for each coarser map: of two that find an object, the finer one is right. */
const LEVEL_SCORE_LOSS = 0.03;

/** Keeps empty windows from dividing by zero. */
const TINY = 1e-3;

/** Operations of the branch on an image: mostly the maps and the sums in windows. */
const BRANCH_FLOPS = 0.13e9;

/** Far above what rounds to zero, far below a score's last bit. */
const TRUNK_SHARE = 1e-30;

const TRUNK_SEED = 31;

/**
 * The trunk at full width: convolutions 3 x 3, in two stages of the image's eighth and sixteenth. That of RetinaNet has as many
 * operations and weights (37 million) as the real model at a width of nearly 1.
 */
const STAGES = [
  { share: 8, channels: 256, layers: 24 },
  { share: 16, channels: 512, layers: 10 },
] as const;

/**
 * The model.
 * @param cost Operations as a share of the real model's: 0.01 to 1; less than the branch takes leaves a trunk of one channel. It
 *   does not alter a result.
 */
export function standinModel(form: StandinForm, cost: number): ModelProto {
  const { benchmark, title } = form;
  const graph = new GraphBuilder(`${benchmark}-standin`);
  const image = addImage(graph, form);
  const found = new Branch(graph, form).addTo(image);
  const unseen = addTrunk(graph, image, form, cost);
  form.addOutputs(graph, { ...found, scores: graph.operator('Add', [found.scores, unseen]) });
  return graph.toModel(
    `STAND-IN for ${title}, made by longhaul: its input, outputs and cost, but random weights, and a small ` +
      'branch that finds objects which longhaul draws itself. Neither this model nor its mAP is one of MLPerf.',
    { longhaul_benchmark: benchmark, longhaul_role: 'stand-in', longhaul_cost: String(cost) },
  );
}

/** Declares the input. @returns Channel x height x width, 0 to 1. */
function addImage(graph: GraphBuilder, { benchmark, input }: StandinForm): TensorName {
  const side = DETECTION_IMAGE_SIZES[benchmark];
  const floats = (shape: readonly number[], values: readonly number[]) =>
    graph.constant(shape, Float32Array.from(values));
  if (input.isBytes) {
    const bytes = graph.input(input.name, 'uint8', ['batch', side, side, 3]);
    const numbers = graph.operator('Cast', [bytes], { to: 1 });
    const planes = graph.operator('Transpose', [numbers], { perm: [0, 3, 1, 2] });
    return graph.operator('Mul', [planes, floats([], [1 / 255])]);
  }
  const image = graph.input(input.name, 'float', [1, 3, side, side]);
  const { means, deviations } = DETECTION_NORMALISATIONS[benchmark];
  if (means.every((mean) => mean === 0)) return image;
  const scaled = graph.operator('Mul', [image, floats([3, 1, 1], deviations)]);
  return graph.operator('Add', [scaled, floats([3, 1, 1], means)]);
}

/** All candidates: [batch, count, 4] left, top, right, bottom in pixels; [batch, count]; labels of all images [count] as float. */
export interface Candidates {
  readonly boxes: TensorName;
  readonly scores: TensorName;
  readonly labels: TensorName;
}

/** Middle and side of an object along one axis, in cells. */
type Extent = readonly [middle: TensorName, side: TensorName];

/** Adds the operators of the branch. */
class Branch {
  readonly #graph: GraphBuilder;
  readonly #side: number;
  readonly #cellPixels: number;

  constructor(graph: GraphBuilder, { benchmark, cellPixels }: StandinForm) {
    this.#graph = graph;
    this.#side = DETECTION_IMAGE_SIZES[benchmark];
    this.#cellPixels = cellPixels;
  }

  addTo(image: TensorName): Candidates {
    let map = this.#pool(this.#addColourMaps(this.#pool(image, this.#cellPixels / 2)), 2);
    const levels: Candidates[] = [];
    for (let level = 0; level < LEVEL_COUNT; level += 1) {
      if (level > 0) map = this.#pool(map, 2);
      levels.push(this.#addLevel(map, level));
    }
    const joined = (key: keyof Candidates, axis: number) =>
      this.#graph.operator(
        'Concat',
        levels.map((one) => one[key]),
        { axis },
      );
    return { boxes: joined('boxes', 1), scores: joined('scores', 1), labels: joined('labels', 0) };
  }

  /** 1 where a pixel has a class's colour, 0 where it has not: [batch, classes, height, width]. */
  #addColourMaps(image: TensorName): TensorName {
    // |pixel - colour|^2 = sum of squares - 2 pixel . colour + |colour|^2
    const pixels = this.#graph.operator('Concat', [image, this.#op('Mul', image, image)], {
      axis: 1,
    });
    const slope = 1 / (DISTANCE_OTHER - DISTANCE_SURE);
    const weights = STANDIN_OBJECT_CLASSES.flatMap(({ colour }) => [
      ...colour.map((share) => 2 * share * slope),
      ...[-slope, -slope, -slope],
    ]);
    const biases = STANDIN_OBJECT_CLASSES.map(
      ({ colour }) => (DISTANCE_OTHER - colour.reduce((sum, x) => sum + x * x, 0)) * slope,
    );
    return this.#clip(
      this.#graph.operator('Conv', [
        pixels,
        this.#graph.constant([CLASS_COUNT, 6, 1, 1], Float32Array.from(weights)),
        this.#graph.constant([CLASS_COUNT], Float32Array.from(biases)),
      ]),
    );
  }

  /** Candidates of one size: a box and a score per class and window. */
  #addLevel(map: TensorName, level: number): Candidates {
    const cell = this.#cellPixels * 2 ** level;
    const places = Math.floor(Math.floor(this.#side / cell) / WINDOW_STEP) + 1;
    const count = CLASS_COUNT * places * places;
    const sums = this.#reshape(this.#addWindowSums(map), [-1, CLASS_COUNT, 5, places, places]);
    const sum = (i: bigint): TensorName => {
      const index = this.#graph.constant([], BigInt64Array.of(i));
      return this.#graph.operator('Gather', [sums, index], { axis: 2 });
    };
    const mass = sum(0n);
    const divisor = this.#op('Add', mass, TINY);
    const [x, width] = this.#addExtent(sum(1n), sum(3n), divisor);
    const [y, height] = this.#addExtent(sum(2n), sum(4n), divisor);
    const scores = this.#addScores(mass, [x, width], [y, height], level);
    const along = Float32Array.from({ length: places }, (_, i) => i * WINDOW_STEP);
    const centreX = this.#op('Add', x, this.#graph.constant([1, 1, places], along));
    const centreY = this.#op('Add', y, this.#graph.constant([1, places, 1], along));
    const edge = (operator: string, centre: TensorName, side: TensorName) => {
      const half = this.#op('Mul', side, 0.5);
      const inPixels = this.#op('Mul', this.#op(operator, centre, half), cell);
      return this.#reshape(this.#op('Clip', inPixels, 0, this.#side), [-1, count, 1]);
    };
    const corners = [
      edge('Sub', centreX, width),
      edge('Sub', centreY, height),
      edge('Add', centreX, width),
      edge('Add', centreY, height),
    ];
    const labels = Float32Array.from({ length: count }, (_, i) =>
      Math.floor(i / (places * places)),
    );
    return {
      boxes: this.#graph.operator('Concat', corners, { axis: 2 }),
      scores: this.#reshape(scores, [-1, count]),
      labels: this.#graph.constant([count], labels),
    };
  }

  /**
   * Per class and window: sums of the map, and of the map times the place (cells from the window's middle) and its square,
   * along the rows first and then along the columns. [batch, classes x 5, places, places]: 1, x, y, x^2, y^2.
   */
  #addWindowSums(map: TensorName): TensorName {
    const rows = this.#addSums(map, 1, ROW_SUMS);
    return this.#addSums(rows, ROW_SUMS.length, COLUMN_SUMS);
  }

  /** @param inputs Channels of each class. @param sums Of each output: which of them, and the power of the place. */
  #addSums(
    map: TensorName,
    inputs: number,
    sums: readonly (readonly [input: number, power: number])[],
  ): TensorName {
    const isRows = inputs === 1;
    const own = sums.flatMap(([input, power]) =>
      Array.from({ length: inputs * WINDOW }, (_, i) => {
        const isRead = Math.floor(i / WINDOW) === input;
        return isRead ? ((i % WINDOW) + 0.5 - WINDOW / 2) ** power : 0;
      }),
    );
    const weights = Array.from({ length: CLASS_COUNT }, () => own).flat();
    const shape = isRows ? [1, WINDOW] : [WINDOW, 1];
    const pads = isRows ? [0, WINDOW / 2] : [WINDOW / 2, 0];
    return this.#graph.operator(
      'Conv',
      [
        map,
        this.#graph.constant(
          [CLASS_COUNT * sums.length, inputs, ...shape],
          Float32Array.from(weights),
        ),
      ],
      {
        kernel_shape: shape,
        strides: isRows ? [1, WINDOW_STEP] : [WINDOW_STEP, 1],
        pads: [...pads, ...pads],
        group: CLASS_COUNT,
      },
    );
  }

  /** Of an even bar the variance is side^2 / 12, of a disc side^2 / 16. */
  #addExtent(sum: TensorName, squares: TensorName, mass: TensorName): Extent {
    const middle = this.#op('Div', sum, mass);
    const spread = this.#op('Sub', this.#op('Div', squares, mass), this.#op('Mul', middle, middle));
    // A cell is as wide as its even share.
    const variance = this.#op('Add', this.#op('Max', spread, 0), 1 / 12);
    const factors = this.#perClass(({ isEllipse }) => (isEllipse ? 16 : 12));
    return [middle, this.#op('Sqrt', this.#op('Mul', variance, factors))];
  }

  /** High where the window is centred on one whole object: its mass is that of its sides. [batch, classes, places, places] */
  #addScores(mass: TensorName, [x, width]: Extent, [y, height]: Extent, level: number): TensorName {
    const shares = this.#perClass(({ isEllipse }) => (isEllipse ? Math.PI / 4 : 1));
    const expected = this.#op('Mul', this.#op('Mul', width, height), shares);
    const missing = this.#op('Abs', this.#op('Sub', this.#op('Div', mass, expected), 1));
    const offset = this.#op('Add', this.#op('Abs', x), this.#op('Abs', y));
    const side = this.#op('Max', width, height);
    const factors = [
      this.#falling(missing, 0, 1),
      this.#falling(offset, 0, 4),
      this.#falling(side, SIDE_MAX - 2, SIDE_MAX),
      this.#clip(this.#op('Sub', mass, 0.5)),
    ];
    const score = factors.reduce((product, factor) => this.#op('Mul', product, factor));
    return this.#op('Mul', score, 1 - LEVEL_SCORE_LOSS * level);
  }

  /** 1 up to `from`, 0 from `to` on. */
  #falling(input: TensorName, from: number, to: number): TensorName {
    const left = this.#op('Sub', to, input);
    return this.#clip(this.#op('Mul', left, 1 / (to - from)));
  }

  #perClass(value: (one: (typeof STANDIN_OBJECT_CLASSES)[number]) => number): TensorName {
    const values = Float32Array.from(STANDIN_OBJECT_CLASSES, value);
    return this.#graph.constant([CLASS_COUNT, 1, 1], values);
  }

  #pool(input: TensorName, size: number): TensorName {
    if (size === 1) return input;
    const attributes = { kernel_shape: [size, size], strides: [size, size] };
    return this.#graph.operator('AveragePool', [input], attributes);
  }

  #reshape(input: TensorName, shape: readonly number[]): TensorName {
    const dims = BigInt64Array.from(shape, BigInt);
    return this.#graph.operator('Reshape', [input, this.#graph.constant([shape.length], dims)]);
  }

  /** An operator without attributes. */
  #op(operator: string, ...inputs: (TensorName | number)[]): TensorName {
    const names = inputs.map((input) =>
      typeof input === 'number' ? this.#graph.constant([], Float32Array.of(input)) : input,
    );
    return this.#graph.operator(operator, names);
  }

  #clip(input: TensorName): TensorName {
    return this.#op('Clip', input, 0, 1);
  }
}

/** Operations of the trunk for a factor on its channels. */
function trunkFlops(imageSide: number, width: number): number {
  return STAGES.reduce((sum, { share, channels, layers }, stage) => {
    const side = Math.floor(imageSide / share);
    const own = channelsOf(channels, width);
    const before = stage === 0 ? 3 : channelsOf(STAGES[0].channels, width);
    const entry = stage === 0 ? 64 : 4;
    return sum + 2 * side ** 2 * own * (before * entry + own * 9 * layers);
  }, 0);
}

function channelsOf(channels: number, width: number): number {
  return Math.max(1, Math.round(channels * width));
}

/** Adds the layers that cost as much as the share says, and one number that depends on all of them: [1]. */
function addTrunk(
  graph: GraphBuilder,
  image: TensorName,
  { benchmark, realFlops }: StandinForm,
  cost: number,
): TensorName {
  const random = new SeededRandom(TRUNK_SEED, 0);
  const side = DETECTION_IMAGE_SIZES[benchmark];
  const wanted = Math.max(1, cost * realFlops - BRANCH_FLOPS);
  let width = 1;
  // Operations grow with the square of the channels.
  for (let i = 0; i < 8; i += 1) width *= Math.sqrt(wanted / trunkFlops(side, width));
  let channels = 3;
  const convolution = (input: TensorName, outputs: number, kernel: number, stride: number) => {
    const size = channels * kernel * kernel;
    const deviation = Math.sqrt(2 / size);
    const weights = new Float32Array(outputs * size);
    for (let i = 0; i < weights.length; i += 1) weights[i] = random.nearlyNormal() * deviation;
    const shape = [outputs, channels, kernel, kernel];
    channels = outputs;
    const pad = stride === 1 ? 1 : 0;
    const attributes = {
      kernel_shape: [kernel, kernel],
      strides: [stride, stride],
      pads: [pad, pad, pad, pad],
    };
    const result = graph.operator('Conv', [input, graph.constant(shape, weights)], attributes);
    return graph.operator('Relu', [result]);
  };
  let x = image;
  for (const [stage, { channels: full, layers }] of STAGES.entries()) {
    const own = channelsOf(full, width);
    const step = stage === 0 ? 8 : 2;
    x = convolution(x, own, step, step);
    for (let layer = 0; layer < layers; layer += 1) x = convolution(x, own, 3, 1);
  }
  const mean = graph.operator('ReduceMean', [x], { axes: [0, 1, 2, 3], keepdims: 0 });
  const bounded = graph.operator('Tanh', [mean]);
  return graph.operator('Mul', [bounded, graph.constant([], Float32Array.of(TRUNK_SHARE))]);
}
