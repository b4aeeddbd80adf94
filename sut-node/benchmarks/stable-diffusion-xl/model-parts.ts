import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { PICTURE_SIDE, PROMPT_TOKENS } from '../../../shared/rules/cards/stable-diffusion-xl.ts';
import { FREE, type ModelTensor, type OpenedModel } from '../../model/model-facts.ts';
import { listTensors, shapeFits } from '../../pipeline/model-fit.ts';

/**
 * Names of the model's files, and of the tensors in them: those of Hugging Face optimum's ONNX
 * export.
 */
export const PARTS = ['text_encoder', 'text_encoder_2', 'unet', 'vae_decoder'] as const;

/** Channels, height and width of the latents: one latent pixel is 8 x 8 pixels of the picture. */
export const LATENT_SHAPE = [4, PICTURE_SIDE / 8, PICTURE_SIDE / 8] as const;

/** Prompts per inference: the negative one and the positive one. */
export const PROMPTS = 2;

const IDS = 'input_ids';

/** Expected shapes; the batch is the two prompts. */
const INPUTS = {
  [`text_encoder/${IDS}`]: [PROMPTS, PROMPT_TOKENS],
  [`text_encoder_2/${IDS}`]: [PROMPTS, PROMPT_TOKENS],
  'unet/sample': [PROMPTS, ...LATENT_SHAPE],
  'unet/timestep': undefined,
  'unet/encoder_hidden_states': [PROMPTS, PROMPT_TOKENS, FREE],
  'unet/text_embeds': [PROMPTS, FREE],
  'unet/time_ids': [PROMPTS, 6],
  'vae_decoder/latent_sample': [1, ...LATENT_SHAPE],
} as const;

const OUTPUTS = ['text_encoder_2/text_embeds', 'unet/out_sample', 'vae_decoder/sample'];

/** Integers of 4 and of 8 bytes. */
const INTEGERS = ['int32', 'int64'];

/** Names and sizes of a model that the pipeline needs. */
export interface PictureModel {
  /** By prompt encoder: type of its ids, and its hidden states before the last layer. */
  readonly encoders: readonly {
    readonly ids: string;
    readonly idsType: string;
    readonly hidden: string;
  }[];
  /** Element type and shape that the UNet requires. */
  readonly timestep: { readonly elementType: string; readonly dims: readonly number[] };
}

/**
 * Checks inputs and outputs of the four parts.
 * @throws MlperfError `ERR_MODEL` with the expected and the actual tensors.
 */
export function checkPictureModel(model: OpenedModel): PictureModel {
  const wrong = (expected: string, part: string, side: 'inputs' | 'outputs'): Error =>
    modelError(
      `${model.file} does not fit the benchmark stable-diffusion-xl: expected ${expected}; ` +
        `found ${side} ${listTensors(model[side].filter(({ name }) => name.startsWith(`${part}/`)))}`,
    );
  for (const [name, shape] of Object.entries(INPUTS)) {
    const tensor = model.inputs.find((input) => input.name === name);
    if (tensor === undefined || !isInput(tensor, shape)) {
      const kind = name.endsWith(IDS) ? INTEGERS.join(' or ') : 'float';
      const axes = shape?.map((length) => (length === FREE ? 'any' : length)).join(', ');
      const what = axes === undefined ? 'int64 or float, one number' : `${kind} [${axes}]`;
      throw wrong(`input ${name}: ${what}`, partOf(name), 'inputs');
    }
  }
  const other = model.inputs.find(({ name }) => !Object.hasOwn(INPUTS, name));
  if (other !== undefined) throw wrong(`no input ${other.name}`, partOf(other.name), 'inputs');
  for (const name of OUTPUTS) {
    const isThere = model.outputs.some((output) => output.name === name);
    if (!isThere) throw wrong(`output ${name}`, partOf(name), 'outputs');
  }
  const typeOf = (name: string): ModelTensor =>
    model.inputs.find((input) => input.name === name) as ModelTensor; // Checked above.
  const encoders = PARTS.slice(0, 2).map((part) => {
    const ids = `${part}/${IDS}`;
    const hidden = beforeLast(model.outputs, part);
    if (hidden === undefined) {
      throw wrong(`outputs ${part}/hidden_states.0 and further`, part, 'outputs');
    }
    return { ids, idsType: typeOf(ids).elementType, hidden };
  });
  const { elementType, shape } = typeOf('unet/timestep');
  return {
    encoders,
    timestep: { elementType, dims: shape.map((axis) => (axis === FREE ? 1 : axis)) },
  };
}

function partOf(name: string): string {
  return name.slice(0, name.indexOf('/'));
}

function isInput(
  { name, elementType, shape }: ModelTensor,
  expected: readonly number[] | undefined,
): boolean {
  if (expected === undefined) {
    return shape.length <= 1 && ['float', 'int64'].includes(elementType);
  }
  const isType = name.endsWith(IDS) ? INTEGERS.includes(elementType) : elementType === 'float';
  // A length that is free here matches any length of the model.
  const lengths = expected.map((length, i) => (length === FREE ? (shape[i] ?? FREE) : length));
  return isType && shapeFits(shape, lengths);
}

/** The second to last hidden state of an encoder. */
function beforeLast(outputs: readonly ModelTensor[], part: string): string | undefined {
  const prefix = `${part}/hidden_states.`;
  const places = outputs
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name }) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b);
  const place = places.at(-2);
  return place === undefined ? undefined : `${prefix}${place}`;
}
