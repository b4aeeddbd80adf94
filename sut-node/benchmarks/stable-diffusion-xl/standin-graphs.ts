import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import {
  CELLS,
  DISC_RADIUS,
  discCells,
  STANDIN_TOKENS,
  STANDIN_WORDS,
} from '../../../shared/benchmarks/standin/standin-pictures.ts';
import { PICTURE_SIDE, PROMPT_TOKENS } from '../../../shared/rules/cards/stable-diffusion-xl.ts';
import { GraphBuilder, type TensorName } from '../../model/onnx/graph-builder.ts';
import { trainingSigmas } from './euler-scheduler.ts';
import { LATENT_SHAPE } from './model-parts.ts';

// The four parts have the inputs and outputs of SDXL's, fewer channels, and solve the task of the prompts that longhaul makes up:
//
//   encoders   a word ──► a colour, in the hidden states before the last (thing) and in the pooled output (place)
//   unet       colours ──► latents z of a disc on a ground; noise = (x - z) · s / (s² + v), which is the best answer for
//              pictures that lie around z with the variance v; beside it a trunk of random weights, which makes the cost
//   decoder    a pixel of the latents ──► 8 x 8 of the picture

/** Raise with every change of the graphs. */
export const PICTURE_GRAPH_REVISION = 2;

/** Length of a hidden state, of each encoder. */
const WIDTH = 8;
const BATCH = 'N';
const OPEN_IDS = ['N', PROMPT_TOKENS];
/** Guidance and scaling of the pipeline, which the weights take back. */
const GUIDANCE = 8;
const VAE_SCALING = 0.130_25;
const VARIANCE = 0.02;
/** Mean of the sizes and places that the pipeline tells: 1024, 1024, 0, 0, 1024, 1024. */
const TIME_MEAN = (4 * PICTURE_SIDE) / 6;
const TRUNK_LAYERS = 8;
const TRUNK_SHARE = 1e-5;
/** Multiplications and additions of SDXL's UNet for one prompt and step. */
const UNET_OPERATIONS = 2.98e12;
const SEED = 1024;
/** The encoders know colours roughly, so that no score is perfect. */
const COLOUR_STEPS = 2;

const ABOUT =
  'STAND-IN for a part of Stable Diffusion XL, made by longhaul: its inputs and outputs, but it draws a disc on a ground for words ' +
  'that longhaul makes up. Neither this model nor its pictures are those of MLPerf.';

/** Bytes of the ONNX files by part. @param cost Share of the operations of SDXL's UNet. */
export function standinParts(cost: number): Record<string, Uint8Array> {
  const built = (graph: GraphBuilder): Uint8Array =>
    graph.build(ABOUT, { longhaul_benchmark: 'stable-diffusion-xl', longhaul_role: 'stand-in' });
  return {
    text_encoder: built(encoder(true)),
    text_encoder_2: built(encoder(false)),
    unet: built(unet(cost)),
    vae_decoder: built(decoder()),
  };
}

/** @param isFirst The first encoder knows things; the second one places, and has the pooled output. */
function encoder(isFirst: boolean): GraphBuilder {
  const graph = new GraphBuilder(`sdxl-standin-text-encoder${isFirst ? '' : '-2'}`);
  const ids = graph.input('input_ids', 'int32', OPEN_IDS);
  const table = new Float32Array(STANDIN_TOKENS.count * WIDTH);
  for (const { id, colour, isThing } of STANDIN_WORDS) {
    const known = colour.map((share) => Math.round(share * COLOUR_STEPS) / COLOUR_STEPS);
    if (isThing === isFirst) table.set(known, id * WIDTH);
  }
  const rows = graph.constant([STANDIN_TOKENS.count, WIDTH], table);
  const states = (name: string, factor: number): void => {
    const found = graph.operator('Gather', [rows, ids]);
    const scale = graph.constant([], Float32Array.of(factor));
    graph.operator('Mul', [found, scale], {}, name);
    graph.output(name, 'float', [...OPEN_IDS, WIDTH]);
  };
  // Only the one before the last is right.
  for (const [i, factor] of [0.5, 1, -1].entries()) states(`hidden_states.${i}`, factor);
  const pooledName = isFirst ? 'pooler_output' : 'text_embeds';
  const axes = graph.constant([1], BigInt64Array.of(1n));
  graph.operator('ReduceSum', ['hidden_states.1', axes], { keepdims: 0 }, pooledName);
  graph.output(pooledName, 'float', [BATCH, WIDTH]);
  return graph;
}

function unet(cost: number): GraphBuilder {
  const graph = new GraphBuilder('sdxl-standin-unet');
  const scalar = (value: number): TensorName => graph.constant([], Float32Array.of(value));
  const sample = graph.input('sample', 'float', [BATCH, ...LATENT_SHAPE]);
  const timestep = graph.input('timestep', 'int64', [1]);
  const hidden = graph.input('encoder_hidden_states', 'float', [BATCH, PROMPT_TOKENS, 2 * WIDTH]);
  const pooled = graph.input('text_embeds', 'float', [BATCH, WIDTH]);
  const timeIds = graph.input('time_ids', 'float', [BATCH, 6]);
  const axis = graph.constant([1], BigInt64Array.of(1n));
  const summed = graph.operator('ReduceSum', [hidden, axis], { keepdims: 0 });
  const thing = colourOf(graph, summed, 2 * WIDTH);
  const place = colourOf(graph, pooled, WIDTH);
  const disc = Float32Array.from(discCells(CELLS / 2, CELLS / 2, DISC_RADIUS));
  const mask = graph.constant([1, 1, CELLS, CELLS], disc);
  const difference = graph.operator('Sub', [thing, place]);
  const shown = graph.operator('Add', [place, graph.operator('Mul', [mask, difference])]);
  const size = graph.operator('ReduceMean', [timeIds], { axes: [0, 1], keepdims: 0 });
  const z = graph.operator('Mul', [shown, graph.operator('Div', [size, scalar(TIME_MEAN)])]);
  const sigmas = trainingSigmas();
  const sigma = graph.operator('Gather', [graph.constant([sigmas.length], sigmas), timestep]);
  const squared = graph.operator('Mul', [sigma, sigma]);
  const scale = graph.operator('Sqrt', [graph.operator('Add', [squared, scalar(1)])]);
  const x = graph.operator('Mul', [sample, scale]);
  const factor = graph.operator('Div', [sigma, graph.operator('Add', [squared, scalar(VARIANCE)])]);
  const noise = graph.operator('Mul', [graph.operator('Sub', [x, z]), factor]);
  graph.operator('Add', [noise, trunk(graph, sample, cost)], {}, 'out_sample');
  graph.output('out_sample', 'float', [BATCH, ...LATENT_SHAPE]);
  return graph;
}

/** The first three numbers of a row as channels of the latents, small enough for guidance to make them right. */
function colourOf(graph: GraphBuilder, rows: TensorName, width: number): TensorName {
  const weights = new Float32Array(width * LATENT_SHAPE[0]);
  for (let i = 0; i < 3; i += 1) weights[i * LATENT_SHAPE[0] + i] = 1 / GUIDANCE;
  const colour = graph.operator('MatMul', [
    rows,
    graph.constant([width, LATENT_SHAPE[0]], weights),
  ]);
  return graph.operator('Unsqueeze', [colour, graph.constant([2], BigInt64Array.of(2n, 3n))]);
}

function trunk(graph: GraphBuilder, sample: TensorName, cost: number): TensorName {
  const random = new SeededRandom(SEED, 0);
  const cells = LATENT_SHAPE[1] * LATENT_SHAPE[2];
  const width = Math.sqrt((cost * UNET_OPERATIONS) / (2 * cells * 9 * TRUNK_LAYERS));
  const channels = Math.max(1, Math.round(width));
  const convolution = (input: TensorName, from: number, to: number): TensorName => {
    const weights = new Float32Array(to * from * 9);
    const deviation = Math.sqrt(2 / (from * 9));
    for (let i = 0; i < weights.length; i += 1) weights[i] = random.nearlyNormal() * deviation;
    return graph.operator('Conv', [input, graph.constant([to, from, 3, 3], weights)], {
      kernel_shape: [3, 3],
      pads: [1, 1, 1, 1],
    });
  };
  let x = convolution(sample, LATENT_SHAPE[0], channels);
  for (let i = 0; i < TRUNK_LAYERS; i += 1) {
    x = convolution(graph.operator('Relu', [x]), channels, channels);
  }
  const last = graph.operator('Tanh', [convolution(x, channels, LATENT_SHAPE[0])]);
  return graph.operator('Mul', [last, graph.constant([], Float32Array.of(TRUNK_SHARE))]);
}

function decoder(): GraphBuilder {
  const graph = new GraphBuilder('sdxl-standin-vae-decoder');
  const latents = graph.input('latent_sample', 'float', [BATCH, ...LATENT_SHAPE]);
  const side = PICTURE_SIDE / CELLS;
  const weights = new Float32Array(LATENT_SHAPE[0] * 3 * side * side);
  for (let channel = 0; channel < 3; channel += 1) {
    const begin = (channel * 3 + channel) * side * side;
    weights.fill(VAE_SCALING, begin, begin + side * side);
  }
  const constant = graph.constant([LATENT_SHAPE[0], 3, side, side], weights);
  graph.operator(
    'ConvTranspose',
    [latents, constant],
    { kernel_shape: [side, side], strides: [side, side] },
    'sample',
  );
  graph.output('sample', 'float', [BATCH, 3, PICTURE_SIDE, PICTURE_SIDE]);
  return graph;
}
