import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { roundHalfEven } from '../../../shared/base/round-half-even.ts';
import {
  PICTURE_BYTES,
  PICTURE_SIDE,
  PROMPT_TOKENS,
  PROMPTS_FORM,
} from '../../../shared/rules/cards/stable-diffusion-xl.ts';
import type {
  InputTensor,
  ModelUsage,
  OpenedModel,
  RunModel,
  StepwisePipeline,
  TensorElements,
} from '../../model/model-facts.ts';
import { refuseUsage } from '../../pipeline/model-fit.ts';
import { type EulerStep, eulerSteps, guidedStep, noiseScale } from './euler-scheduler.ts';
import { readLatents } from './fixed-latents.ts';
import { checkPictureModel, LATENT_SHAPE, type PictureModel, PROMPTS } from './model-parts.ts';

// Rule: text_to_image/backend_pytorch.py, and diffusers 0.21.2, StableDiffusionXLPipeline.

const STEPS = 20;
const GUIDANCE = 8;

/** Scale of the VAE's latents relative to the UNet's. */
const VAE_SCALING = 0.130_25;

/** Original size, crop position and target size: the picture is uncropped. */
const TIME_IDS = [PICTURE_SIDE, PICTURE_SIDE, 0, 0, PICTURE_SIDE, PICTURE_SIDE];

/** Ids of a sample: two prompts, each by two tokenizers. */
const ID_COUNT: number = PROMPTS * 2 * PROMPT_TOKENS;

/**
 * A picture for each pair of prompts: both encoders, 20 steps of the UNet with guidance, the VAE's
 * decoder. A response is the picture, one byte per RGB channel. One sample at a time: its two
 * prompts are a batch of the UNet.
 * @throws MlperfError `ERR_MODEL` for other inputs or outputs, or a missing or wrong latents.npy.
 */
export function picturePipeline(opened: OpenedModel, usage: ModelUsage): StepwisePipeline {
  refuseUsage(usage, 'the benchmark stable-diffusion-xl');
  const model = checkPictureModel(opened);
  const noise = readLatents(opened.file);
  const steps = eulerSteps(STEPS);
  return {
    forms: [PROMPTS_FORM],
    samplesAtOnce: 1,
    answer: async (samples, run) => {
      const answers: (Uint8Array | Error)[] = [];
      for (const { payload } of samples) {
        const ids = readIds(payload);
        if (ids instanceof Error) answers.push(ids);
        else {
          const prompts = await encodePrompts(model, ids, run);
          const latents = await denoise(model, prompts, { noise, steps }, run);
          answers.push(await decode(latents, run));
        }
      }
      return answers;
    },
    warmUpPayload: () => ({ form: PROMPTS_FORM, payload: new Uint8Array(ID_COUNT * 4) }),
  };
}

/** Per tokenizer: ids of the negative prompt, then of the positive one. */
function readIds(payload: BorrowedBytes): readonly Int32Array[] | Error {
  if (payload.length !== ID_COUNT * 4) {
    return new Error(
      `a sample is ${ID_COUNT} token ids, int32: ${ID_COUNT * 4} bytes; this one has ${payload.length}`,
    );
  }
  const ids = new Int32Array(new Uint8Array(payload).buffer);
  const [first, second, negativeFirst, negativeSecond] = Array.from({ length: 4 }, (_, i) =>
    ids.subarray(i * PROMPT_TOKENS, (i + 1) * PROMPT_TOKENS),
  ) as [Int32Array, Int32Array, Int32Array, Int32Array];
  return [Int32Array.of(...negativeFirst, ...first), Int32Array.of(...negativeSecond, ...second)];
}

/** Inputs of the UNet that are equal in all steps. */
type Conditions = readonly InputTensor[];

async function encodePrompts(
  { encoders }: PictureModel,
  ids: readonly Int32Array[],
  run: RunModel,
): Promise<Conditions> {
  const pooledName = 'text_encoder_2/text_embeds';
  const hidden: Float32Array[] = [];
  let pooled = new Float32Array(0);
  for (const [i, encoder] of encoders.entries()) {
    const data = asType(ids[i] as Int32Array, encoder.idsType);
    const input = { name: encoder.ids, elementType: encoder.idsType, data };
    const isLast = i === encoders.length - 1;
    const found = await run(
      [{ ...input, dims: [PROMPTS, PROMPT_TOKENS] }],
      isLast ? [encoder.hidden, pooledName] : [encoder.hidden],
    );
    hidden.push(floats(found, encoder.hidden, undefined));
    if (isLast) pooled = floats(found, pooledName, undefined);
  }
  const states = joinRows(hidden, PROMPTS * PROMPT_TOKENS);
  const perToken = states.length / (PROMPTS * PROMPT_TOKENS);
  const float = (name: string, data: Float32Array, dims: readonly number[]): InputTensor => ({
    name: `unet/${name}`,
    elementType: 'float',
    data,
    dims: [PROMPTS, ...dims],
  });
  return [
    float('encoder_hidden_states', states, [PROMPT_TOKENS, perToken]),
    float('text_embeds', pooled, [pooled.length / PROMPTS]),
    float('time_ids', Float32Array.of(...TIME_IDS, ...TIME_IDS), [TIME_IDS.length]),
  ];
}

/** Rows of several matrices, side by side. */
function joinRows(parts: readonly Float32Array[], rows: number): Float32Array {
  const joined = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (let row = 0; row < rows; row += 1) {
    for (const part of parts) {
      const width = part.length / rows;
      joined.set(part.subarray(row * width, (row + 1) * width), at);
      at += width;
    }
  }
  return joined;
}

async function denoise(
  { timestep: { elementType, dims } }: PictureModel,
  conditions: Conditions,
  { noise, steps }: { readonly noise: Float32Array; readonly steps: readonly EulerStep[] },
  run: RunModel,
): Promise<Float32Array> {
  const output = 'unet/out_sample';
  const scale = noiseScale(steps[0]?.sigma ?? 0);
  const latents = noise.map((value) => value * scale);
  const sample = new Float32Array(PROMPTS * latents.length);
  for (const step of steps) {
    const divisor = noiseScale(step.sigma);
    for (let i = 0; i < latents.length; i += 1) sample[i] = (latents[i] as number) / divisor;
    sample.copyWithin(latents.length, 0, latents.length);
    const count = dims[0] ?? 1;
    const times = asType(new Int32Array(count).fill(step.timestep), elementType);
    const found = await run(
      [
        {
          name: 'unet/sample',
          elementType: 'float',
          data: sample,
          dims: [PROMPTS, ...LATENT_SHAPE],
        },
        { name: 'unet/timestep', elementType, data: times, dims },
        ...conditions,
      ],
      [output],
    );
    guidedStep(latents, floats(found, output, sample.length), GUIDANCE, step);
  }
  return latents;
}

async function decode(latents: Float32Array, run: RunModel): Promise<Uint8Array> {
  const output = 'vae_decoder/sample';
  const data = latents.map((value) => value / VAE_SCALING);
  const input = { name: 'vae_decoder/latent_sample', elementType: 'float', data };
  const found = await run([{ ...input, dims: [1, ...LATENT_SHAPE] }], [output]);
  const planes = floats(found, output, PICTURE_BYTES);
  const picture = new Uint8Array(PICTURE_BYTES);
  const plane = PICTURE_SIDE * PICTURE_SIDE;
  for (let channel = 0; channel < 3; channel += 1) {
    for (let i = 0; i < plane; i += 1) {
      const value = (planes[channel * plane + i] as number) / 2 + 0.5;
      picture[i * 3 + channel] = roundHalfEven(Math.min(Math.max(value, 0), 1) * 255);
    }
  }
  return picture;
}

function asType(values: Int32Array, elementType: string): TensorElements {
  if (elementType === 'int64') return BigInt64Array.from(values, BigInt);
  return elementType === 'float' ? Float32Array.from(values) : values;
}

/** @throws MlperfError `ERR_MODEL` for an output of another type or length. */
function floats(
  outputs: Awaited<ReturnType<RunModel>>,
  name: string,
  length: number | undefined,
): Float32Array<ArrayBuffer> {
  const { data, dims } = outputs.get(name) ?? { data: undefined, dims: [] };
  if (data instanceof Float32Array && (length === undefined || data.length === length)) {
    return data as Float32Array<ArrayBuffer>;
  }
  throw modelError(
    `output ${name} of the model has the shape [${dims.join(', ')}]; expected ${length ?? 'any number of'} values of float32`,
  );
}
