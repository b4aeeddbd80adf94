import { STANDIN_INTENSITIES } from '../../../shared/benchmarks/volume/standin-volume.ts';
import { WINDOW_SIDE } from '../../../shared/benchmarks/volume/volume.ts';
import { GraphBuilder, integers } from '../../model/onnx/graph-builder.ts';
import { standinBytes } from '../standin/standin-models.ts';
import { Trunk } from '../standin/trunk.ts';
import type { Standin } from '../sut-benchmark.ts';

/** Names of the reference model's input and output. */
export const WINDOW_INPUT = 'input';
export const SCORES_OUTPUT = 'output';

/** Scores per voxel: everything else, kidney, tumour. */
export const VOXEL_CLASSES = 3;

/** Operations of the real model on a window, by its layers. */
const WINDOW_FLOPS = 1.8e12;

const NAME = '3d-unet-standin';
const SIDES = [WINDOW_SIDE, WINDOW_SIDE, WINDOW_SIDE];

/** The stand-in for 3D U-Net: a voxel's class is the one whose intensity is nearest. */
export const UNET_STANDIN: Standin = {
  benchmark: '3d-unet',
  original: '3D U-Net',
  words: { standin: NAME },
  costDefault: 0.01,
  make: (_word, cost) => ({
    [`${NAME}.onnx`]: standinBytes(unetGraph(cost * WINDOW_FLOPS), UNET_STANDIN, cost),
  }),
};

function unetGraph(flops: number): GraphBuilder {
  const graph = new GraphBuilder(NAME);
  const window = graph.input(WINDOW_INPUT, 'float', ['N', 1, ...SIDES]);
  // Largest where the distance is least: of x and m, 2 x m - m², which is x² - (x - m)².
  const weights = Float32Array.from(STANDIN_INTENSITIES, (intensity) => 2 * intensity);
  const known = graph.operator('Conv', [
    window,
    graph.constant([VOXEL_CLASSES, 1, 1, 1, 1], weights),
    Float32Array.from(STANDIN_INTENSITIES, (intensity) => -(intensity ** 2)),
  ]);
  // Slices are channels to the trunk.
  const images = { channels: WINDOW_SIDE, side: WINDOW_SIDE, stride: 1, range: [-3, 3] } as const;
  const slices = graph.operator('Reshape', [window, integers(-1, ...SIDES)]);
  const unseen = new Trunk(graph).images(slices, images, flops);
  graph.operator(
    'Add',
    [known, graph.operator('Unsqueeze', [unseen, integers(4)])],
    {},
    SCORES_OUTPUT,
  );
  graph.output(SCORES_OUTPUT, 'float', ['N', VOXEL_CLASSES, ...SIDES]);
  return graph;
}
