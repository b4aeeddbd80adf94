import { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import {
  CELLS,
  DISC_RADIUS,
  discCells,
  STANDIN_TOKENS,
  STANDIN_WORDS,
} from '../../../shared/benchmarks/standin/standin-pictures.ts';
import { PICTURE_SIDE, PROMPT_TOKENS } from '../../../shared/rules/cards/stable-diffusion-xl.ts';
import { GraphBuilder, integers, type TensorName } from '../../model/onnx/graph-builder.ts';
import { partFiles, standinBytes } from '../standin/standin-models.ts';
import { Trunk } from '../standin/trunk.ts';
import type { Standin } from '../sut-benchmark.ts';
import { trainingSigmas } from './euler-scheduler.ts';
import { LATENT_COUNT, STANDIN_LATENTS_FILE } from './fixed-latents.ts';
import { LATENT_SHAPE } from './model-parts.ts';

// The four parts have the inputs and outputs of SDXL's, fewer channels, and solve the task of the
// prompts that longhaul makes up:
//
//   encoders a word ──► a colour, in the hidden states before the last (thing) and in the pooled
//   output (place)
//   unet colours ──► latents z of a disc on a ground; noise = (x - z) · s / (s² + v), which is the
//   best answer for
//              pictures that lie around z with the variance v; beside it the trunk
//   decoder a pixel of the latents ──► 8 x 8 of the picture

const NAME = 'sdxl-standin';

/** Length of a hidden state, of each encoder. */
const WIDTH = 8;
const OPEN_IDS = ['N', PROMPT_TOKENS];
/** Guidance and scaling of the pipeline, which the weights take back. */
const GUIDANCE = 8;
const VAE_SCALING = 0.130_25;
const VARIANCE = 0.02;
/** Mean of the sizes and places that the pipeline tells: 1024, 1024, 0, 0, 1024, 1024. */
const TIME_MEAN = (4 * PICTURE_SIDE) / 6;
/** Operations of SDXL's UNet for one prompt and step. */
const UNET_FLOPS = 2.98e12;
const LATENTS_SEED = 1024;
/** The encoders know colours roughly, so that no score is perfect. */
const COLOUR_STEPS = 2;

/**
 * The stand-in for Stable Diffusion XL: 12 billion operations for a prompt's 20 steps where no cost
 * is requested.
 */
export const SDXL_STANDIN: Standin = {
  benchmark: 'stable-diffusion-xl',
  original: 'Stable Diffusion XL',
  words: { standin: NAME },
  costDefault: 0.0001,
  costMin: 0.0001,
  isParts: true,
  make: (_word, cost) => {
    const built = (graph: GraphBuilder): Uint8Array => standinBytes(graph, SDXL_STANDIN, cost);
    const random = new SeededRandom(LATENTS_SEED, 0);
    const latents = Float32Array.from({ length: LATENT_COUNT }, () => random.nearlyNormal());
    return {
      ...partFiles(NAME, {
        text_encoder: built(encoder(true)),
        text_encoder_2: built(encoder(false)),
        unet: built(unet(cost * UNET_FLOPS)),
        vae_decoder: built(decoder()),
      }),
      [STANDIN_LATENTS_FILE]: new Uint8Array(latents.buffer),
    };
  },
};

/**
 * @param isFirst The first encoder knows things; the second one places, and has the pooled output.
 */
function encoder(isFirst: boolean): GraphBuilder {
  const graph = new GraphBuilder(`${NAME}-text-encoder${isFirst ? '' : '-2'}`);
  const ids = graph.input('input_ids', 'int32', OPEN_IDS);
  const table = new Float32Array(STANDIN_TOKENS.count * WIDTH);
  for (const { id, colour, isThing } of STANDIN_WORDS) {
    const known = colour.map((share) => Math.round(share * COLOUR_STEPS) / COLOUR_STEPS);
    if (isThing === isFirst) table.set(known, id * WIDTH);
  }
  const found = graph.operator('Gather', [
    graph.constant([STANDIN_TOKENS.count, WIDTH], table),
    ids,
  ]);
  // Only the one before the last is right.
  for (const [i, factor] of [0.5, 1, -1].entries()) {
    graph.operator('Mul', [found, factor], {}, `hidden_states.${i}`);
    graph.output(`hidden_states.${i}`, 'float', [...OPEN_IDS, WIDTH]);
  }
  const pooledName = isFirst ? 'pooler_output' : 'text_embeds';
  graph.operator('ReduceSum', ['hidden_states.1', integers(1)], { keepdims: 0 }, pooledName);
  graph.output(pooledName, 'float', ['N', WIDTH]);
  return graph;
}

function unet(flops: number): GraphBuilder {
  const graph = new GraphBuilder(`${NAME}-unet`);
  const op = (type: string, ...inputs: Parameters<GraphBuilder['operator']>[1]) =>
    graph.operator(type, inputs);
  const sample = graph.input('sample', 'float', ['N', ...LATENT_SHAPE]);
  const timestep = graph.input('timestep', 'int64', [1]);
  const hidden = graph.input('encoder_hidden_states', 'float', ['N', PROMPT_TOKENS, 2 * WIDTH]);
  const pooled = graph.input('text_embeds', 'float', ['N', WIDTH]);
  const timeIds = graph.input('time_ids', 'float', ['N', 6]);
  const summed = graph.operator('ReduceSum', [hidden, integers(1)], { keepdims: 0 });
  const thing = colourOf(graph, summed, 2 * WIDTH);
  const place = colourOf(graph, pooled, WIDTH);
  const disc = Float32Array.from(discCells(CELLS / 2, CELLS / 2, DISC_RADIUS));
  const mask = graph.constant([1, 1, CELLS, CELLS], disc);
  const shown = op('Add', place, op('Mul', mask, op('Sub', thing, place)));
  const size = graph.operator('ReduceMean', [timeIds], { axes: [0, 1], keepdims: 0 });
  const z = op('Mul', shown, op('Div', size, TIME_MEAN));
  const sigma = op('Gather', trainingSigmas(), timestep);
  const squared = op('Mul', sigma, sigma);
  const x = op('Mul', sample, op('Sqrt', op('Add', squared, 1)));
  const factor = op('Div', sigma, op('Add', squared, VARIANCE));
  const noise = op('Mul', op('Sub', x, z), factor);
  const [channels, side] = LATENT_SHAPE;
  const images = { channels, side, stride: 1, range: [-3, 3] } as const;
  const unseen = new Trunk(graph).images(sample, images, flops);
  graph.operator('Add', [noise, unseen], {}, 'out_sample');
  graph.output('out_sample', 'float', ['N', ...LATENT_SHAPE]);
  return graph;
}

/**
 * The first three numbers of a row as channels of the latents, small enough for guidance to make
 * them right.
 */
function colourOf(graph: GraphBuilder, rows: TensorName, width: number): TensorName {
  const [channels] = LATENT_SHAPE;
  const weights = new Float32Array(width * channels);
  for (let i = 0; i < 3; i += 1) weights[i * channels + i] = 1 / GUIDANCE;
  const colour = graph.operator('MatMul', [rows, graph.constant([width, channels], weights)]);
  return graph.operator('Unsqueeze', [colour, integers(2, 3)]);
}

function decoder(): GraphBuilder {
  const graph = new GraphBuilder(`${NAME}-vae-decoder`);
  const latents = graph.input('latent_sample', 'float', ['N', ...LATENT_SHAPE]);
  const side = PICTURE_SIDE / CELLS;
  const weights = new Float32Array(LATENT_SHAPE[0] * 3 * side * side);
  for (let channel = 0; channel < 3; channel += 1) {
    const begin = (channel * 3 + channel) * side * side;
    weights.fill(VAE_SCALING, begin, begin + side * side);
  }
  const constant = graph.constant([LATENT_SHAPE[0], 3, side, side], weights);
  const attributes = { kernel_shape: [side, side], strides: [side, side] };
  graph.operator('ConvTranspose', [latents, constant], attributes, 'sample');
  graph.output('sample', 'float', ['N', 3, PICTURE_SIDE, PICTURE_SIDE]);
  return graph;
}
