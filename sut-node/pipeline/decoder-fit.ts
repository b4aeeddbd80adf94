import { modelError } from '../../shared/base/errors/mlperf-error.ts';
import type { GenerationLimits } from '../../shared/rules/rows/benchmark-card.ts';
import {
  type DecoderLayout,
  ELEMENT_TYPES,
  type ElementType,
  type ModelTensor,
  type OpenedModel,
} from '../model/model-facts.ts';
import { listTensors } from './model-fit.ts';

/** Tensors of a decoder-only model, as exporters to ONNX name them. */
export const DECODER_TENSORS = {
  ids: 'input_ids',
  mask: 'attention_mask',
  positions: 'position_ids',
  logits: 'logits',
  /** Names of the keys and values in the cache, with inputs and outputs in the same order. */
  caches: (layers: number): readonly CacheTensors[] =>
    Array.from({ length: 2 * layers }, (_, i) => {
      const which = `${Math.floor(i / 2)}.${i % 2 === 0 ? 'key' : 'value'}`;
      return {
        past: `past_key_values.${which}`,
        present: `present.${which}`,
        added: `added.${which}`,
      };
    }),
};

/** Names of the keys or values of a layer. */
interface CacheTensors {
  /** Input: values of the tokens so far. */
  readonly past: string;
  /** Output: values of all tokens. */
  readonly present: string;
  /** Output that cache-additions.ts adds: values of the new tokens alone. */
  readonly added: string;
}

const INTERFACE =
  'inputs input_ids, attention_mask and perhaps position_ids (int64 [batch, tokens]), past_key_values.0.key, .value, ' +
  'past_key_values.1.key, ... (float or float16 [batch, heads, past tokens, width of a head]); outputs logits (float or ' +
  'float16 [batch, tokens, vocabulary]), present.0.key, .value, ...';

/**
 * Sizes of a decoder-only model with its cache as inputs and outputs.
 * @param what The side that requires these tensors, for the message: `the benchmark llama2-70b`.
 * @throws MlperfError `ERR_MODEL` that tells what is expected and what the model has.
 */
export function decoderLayout(model: OpenedModel, what: string): DecoderLayout {
  const refuse = (why: string): never => {
    throw modelError(
      `${model.file} does not fit ${what}: ${why}; expected: ${INTERFACE}; found: inputs ` +
        `${listTensors(model.inputs)}; outputs ${listTensors(model.outputs)}`,
    );
  };
  const find = (tensors: readonly ModelTensor[], name: string, axes: number): ModelTensor => {
    const tensor =
      tensors.find((candidate) => candidate.name === name) ?? refuse(`${name} is missing`);
    return tensor.shape.length === axes ? tensor : refuse(`${name} does not have ${axes} axes`);
  };
  const layers = model.inputs.filter(({ name }) => /^past_key_values\.\d+\.key$/.test(name)).length;
  if (layers === 0) refuse('no past_key_values.0.key');
  const { ids, mask, positions, logits, caches } = DECODER_TENSORS;
  const hasPositions = model.inputs.some(({ name }) => name === positions);
  const integers = [ids, mask, ...(hasPositions ? [positions] : [])];
  for (const name of integers) {
    if (find(model.inputs, name, 2).elementType !== 'int64') refuse(`${name} is not int64`);
  }
  const first = find(model.inputs, 'past_key_values.0.key', 4);
  const [, heads = 0, , headWidth = 0] = first.shape;
  if (heads === 0 || headWidth === 0)
    refuse(`${first.name} has a free number of heads, or a free width of a head`);
  const names = caches(layers);
  for (const { past, present } of names) {
    const tensor = find(model.inputs, past, 4);
    const isAlike = tensor.shape[1] === heads && tensor.shape[3] === headWidth;
    if (!isAlike) refuse(`${past} and ${first.name} differ in their heads`);
    const types = [tensor.elementType, find(model.outputs, present, 4).elementType];
    if (types.some((type) => type !== first.elementType)) refuse(`${past} is of another type`);
  }
  const known = new Set([...integers, ...names.map(({ past }) => past)]);
  const other = model.inputs.find(({ name }) => !known.has(name));
  if (other !== undefined) refuse(`there is no value for its input ${other.name}`);
  const scores = find(model.outputs, logits, 3);
  const vocabulary = scores.shape[2] as number; // It has 3 axes.
  if (vocabulary === 0) refuse('the vocabulary axis of logits is free');
  const floatOf = ({ name, elementType }: ModelTensor): 'float' | 'float16' =>
    elementType === 'float' || elementType === 'float16'
      ? elementType
      : refuse(`${name} is ${elementType}`);
  const [cacheType, logitsType] = [floatOf(first), floatOf(scores)];
  return { layers, heads, headWidth, vocabulary, cacheType, logitsType, hasPositions };
}

/** Bytes of the keys and values of the longest sequence: a row of the cache for each beam. */
export function sequenceBytes(decoder: DecoderLayout, limits: GenerationLimits): number {
  const { layers, heads, headWidth, cacheType } = decoder;
  const { promptTokensMax, newTokensMax, beams = 1 } = limits;
  const { bytes } = ELEMENT_TYPES.get(cacheType) as ElementType; // A key of the table.
  return beams * (promptTokensMax + newTokensMax) * 2 * layers * heads * headWidth * bytes;
}

/**
 * Number of sequences that a worker may generate side by side. Their cache then never exceeds
 * `bytesMax`, even at the largest length.
 * @param places.asked Number in the settings; undefined: as many as the bytes allow, up to `most`.
 * @throws MlperfError `ERR_MODEL` if the memory does not suffice for this number, or for one.
 */
export function sequencesThatFit(
  decoder: DecoderLayout,
  limits: GenerationLimits,
  places: {
    readonly bytesMax: number;
    readonly most: number;
    readonly asked: number | undefined;
  },
): number {
  const { bytesMax, most, asked } = places;
  const rowBytes = sequenceBytes(decoder, limits);
  const fitting = Math.floor(bytesMax / rowBytes);
  if (fitting >= Math.max(1, asked ?? 1)) return Math.min(fitting, most);
  const mib = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2)} MiB`;
  throw modelError(
    `the cache of one sequence takes up to ${mib(rowBytes)}, and a worker has ${mib(bytesMax)} for it (an eighth of the ` +
      `memory of machine or container, shared by the workers): room for ${fitting} sequences, not ${asked ?? 1}; set a smaller ` +
      '--batch-size-max or fewer --workers, or use a machine with more memory',
  );
}
