import { type MlperfError, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { FREE, type ModelTensor, type OpenedModel } from '../../model/model-facts.ts';
import { listTensors } from '../../pipeline/model-fit.ts';

/** Names of the two parts of the model. */
export const PARTS = { encoder: 'encoder', decoder: 'decoder' } as const;

/** Tensor names in the interface; all others are the model's own. */
export const SOURCE_IDS = 'source_ids';
export const SOURCE_LENGTHS = 'source_lengths';
export const TOKEN_IDS = 'token_ids';
export const LOG_PROBS = 'log_probs';

/** Prefix of an output that is the next step's input. */
export const NEXT = 'next_';

/** An input of the decoder besides the tokens; the first axis is the beams. */
export interface DecoderInput extends ModelTensor {
  /** True: its value is the previous step's output `next_` plus its name. */
  readonly isState: boolean;
  /**
   * True: the encoder outputs its first value, or the encoder has the same input
   * (`source_lengths`); false: it starts as zeros.
   */
  readonly isFromEncoder: boolean;
}

/** The tensors of a model, found and checked. */
export interface TranslationGraphs {
  /** `int32` or `int64`. */
  readonly sourceType: string;
  readonly lengthType: string;
  readonly tokenType: string;
  readonly encoderOutputs: readonly string[];
  readonly decoderInputs: readonly DecoderInput[];
}

const INTEGERS = ['int32', 'int64'];

/**
 * Matches a model's encoder and decoder; the README of the benchmark (LoadGen node) has the
 * interface. Names include their part: `encoder/source_ids`.
 * @param targetSize Tokens of the target vocabulary.
 * @throws MlperfError `ERR_MODEL` with the expected and the actual tensors.
 */
export function translationGraphs(model: OpenedModel, targetSize: number): TranslationGraphs {
  const { file } = model;
  const part = (side: 'inputs' | 'outputs', name: string): ModelTensor[] =>
    model[side].flatMap((tensor) =>
      tensor.name.startsWith(`${name}/`)
        ? [{ ...tensor, name: tensor.name.slice(name.length + 1) }]
        : [],
    );
  const encoder = { inputs: part('inputs', 'encoder'), outputs: part('outputs', 'encoder') };
  const decoder = { inputs: part('inputs', 'decoder'), outputs: part('outputs', 'decoder') };
  const misfit = (what: string, tensors: readonly ModelTensor[]): MlperfError =>
    modelError(`${file} does not fit the benchmark gnmt: ${what}; found ${listTensors(tensors)}`);
  const idsOf = (tensors: readonly ModelTensor[], name: string, axes: number): string => {
    const found = tensors.find((tensor) => tensor.name === name);
    const isFit =
      found !== undefined && INTEGERS.includes(found.elementType) && isFree(found.shape, axes);
    if (isFit) return found.elementType;
    const shape = ['free', 'free'].slice(0, axes).join(', ');
    throw misfit(`expected input ${name}: int32 or int64 [${shape}]`, tensors);
  };
  const sourceType = idsOf(encoder.inputs, SOURCE_IDS, 2);
  const lengthType = idsOf(encoder.inputs, SOURCE_LENGTHS, 1);
  if (encoder.inputs.length > 2) {
    throw misfit(`the encoder's inputs are ${SOURCE_IDS} and ${SOURCE_LENGTHS}`, encoder.inputs);
  }
  const tokenType = idsOf(decoder.inputs, TOKEN_IDS, 1);
  const scores = decoder.outputs.find(({ name }) => name === LOG_PROBS);
  const [rows, size] = scores?.shape ?? [];
  const isScore = scores?.elementType === 'float' && scores.shape.length === 2 && rows === FREE;
  if (!isScore || (size !== FREE && size !== targetSize)) {
    const wanted = `float [free, ${targetSize}], as many tokens as the target vocabulary has`;
    throw misfit(`expected output ${LOG_PROBS} of the decoder: ${wanted}`, decoder.outputs);
  }
  const given = [
    ...encoder.outputs,
    { name: SOURCE_LENGTHS, elementType: lengthType, shape: [FREE] },
  ];
  const decoderInputs = decoder.inputs
    .filter(({ name }) => name !== TOKEN_IDS)
    .map((input) => decoderInput(input, given, decoder.outputs, misfit));
  const encoderOutputs = decoderInputs
    .filter(({ name, isFromEncoder }) => isFromEncoder && name !== SOURCE_LENGTHS)
    .map(({ name }) => name);
  if (encoderOutputs.length === 0) {
    throw misfit("no input of the decoder has the name of one of the encoder's outputs", [
      ...decoder.inputs,
      ...encoder.outputs,
    ]);
  }
  return { sourceType, lengthType, tokenType, encoderOutputs, decoderInputs };
}

function decoderInput(
  input: ModelTensor,
  given: readonly ModelTensor[],
  outputs: readonly ModelTensor[],
  misfit: (what: string, tensors: readonly ModelTensor[]) => MlperfError,
): DecoderInput {
  const { name, elementType, shape } = input;
  const first = given.find((tensor) => tensor.name === name);
  const next = outputs.find((tensor) => tensor.name === NEXT + name);
  if (first === undefined && next === undefined) {
    const wanted = `an output ${name} of the encoder, or an output ${NEXT}${name} of the decoder`;
    throw misfit(`the decoder's input ${name} needs ${wanted}`, [...given, ...outputs]);
  }
  const other = [first, next].find(
    (tensor) => tensor !== undefined && tensor.elementType !== elementType,
  );
  if (other !== undefined) {
    throw misfit(`${other.name} must have the type of the decoder's input ${name}`, [input, other]);
  }
  if (shape[0] !== FREE) {
    throw misfit(`the first axis of the decoder's input ${name} must be free: the beams`, [input]);
  }
  if (first === undefined && shape.slice(1).includes(FREE)) {
    throw misfit(`input ${name} begins with zeros, so only its first axis may be free`, [input]);
  }
  return { ...input, isState: next !== undefined, isFromEncoder: first !== undefined };
}

function isFree(shape: readonly number[], axes: number): boolean {
  return shape.length === axes && shape.every((length) => length === FREE);
}
