import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { dataSetError, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { SQUAD_STANDIN_VOCABULARY } from '../../../shared/benchmarks/standin/standin-squad.ts';
import { BERT_LENGTH } from '../../../shared/rules/cards/bert.ts';
import {
  FREE,
  type ModelPipeline,
  type ModelTensor,
  type OpenedModel,
  type OutputTensor,
  type TensorElements,
} from '../../model/model-facts.ts';
import { listTensors } from '../../pipeline/model-fit.ts';

/** Names of token ids, mask and segment ids in the reference's file, and in its int8 file. */
const INPUT_NAMES = [
  ['input_ids', 'input_mask', 'segment_ids'],
  ['input_ids', 'attention_mask', 'token_type_ids'],
] as const;

const OUTPUT_NAMES = ['output_start_logits', 'output_end_logits'] as const;

/** 32-bit words per element, by element type. */
const WORDS: Readonly<Record<string, number>> = { int64: 2, int32: 1 };

/**
 * Samples whose lengths round up to the same multiple share an inference, if the model's length
 * axis is free.
 */
const LENGTH_STEP = 32;

/** Logit of positions outside the inference, as in accuracy-squad.py. */
const NO_LOGIT = -10_000;

/**
 * Samples of BERT. A payload is 384 token ids, int32; mask and segment ids are computed here
 * (timed): real tokens end at the last non-zero id, the first segment ends at the first [SEP], the
 * second at the last token, also a [SEP]. Or it is all three inputs, int64 or int32. A response is
 * start and end logit of 384 positions, float32. If the model's length axis is free, padding is cut
 * off, and padded positions have no logit.
 * @throws MlperfError `ERR_MODEL` for other inputs or outputs.
 */
export function bertPipeline(model: OpenedModel): ModelPipeline {
  const tensors = findInputs(model);
  checkOutputs(model);
  const [{ elementType, shape }] = tensors;
  const isFree = shape[1] === FREE;
  const words = WORDS[elementType] as number; // Checked with the inputs.
  return {
    inputs: tensors.map(({ name }) => ({ name, elementType, sampleShape: shape.slice(1) })),
    outputNames: OUTPUT_NAMES,
    isOwnResponse: true,
    forms: ['ids', 'int64', 'int32'],
    tensorForms: [],
    checkTensor: () => {
      throw new Error(
        'a payload of bert holds all inputs of the model and cannot be checked as one tensor',
      );
    },
    ...(isFree && { isLengthInContent: true, lengthOf: lengthOfSample }),
    preprocess: async (payload, form, targets) => {
      const sample = readSample(payload, form);
      for (const [i, values] of [sample.ids, sample.mask, sample.segments].entries()) {
        writeInput(values, targets[i] as TensorElements, words); // In range: one per input.
      }
    },
    postprocess,
    warmUpPayload: () => ({ form: 'ids', payload: longestSample() }),
  };
}

type InputTensors = readonly [ModelTensor, ModelTensor, ModelTensor];

function findInputs(model: OpenedModel): InputTensors {
  const { inputs } = model;
  for (const names of INPUT_NAMES) {
    const found = names.map((name) => inputs.find((input) => input.name === name));
    const [first] = found;
    const fits = (tensor: ModelTensor | undefined): boolean =>
      tensor?.elementType === first?.elementType &&
      tensor?.shape.length === 2 &&
      tensor.shape[1] === first?.shape[1];
    const length = first?.shape[1];
    const isKnown = length === FREE || length === BERT_LENGTH;
    if (inputs.length !== names.length || !found.every(fits) || !isKnown) continue;
    if (WORDS[first?.elementType ?? ''] !== undefined) return found as unknown as InputTensors;
  }
  const names = INPUT_NAMES.map((list) => list.join(', '));
  throw modelError(
    `${model.file} does not fit the benchmark bert: expected inputs ${names.join(', or ')}, all int64 or all int32 ` +
      `[batch, ${BERT_LENGTH} or free]; found ${listTensors(inputs)}`,
  );
}

function checkOutputs({ file, outputs }: OpenedModel): void {
  const fits = OUTPUT_NAMES.every((wanted) =>
    outputs.some(({ name, elementType }) => name === wanted && elementType === 'float'),
  );
  if (fits) return;
  throw modelError(
    `${file} does not fit the benchmark bert: expected outputs ${OUTPUT_NAMES.join(', ')}, float; ` +
      `found ${listTensors(outputs)}`,
  );
}

/** The inputs of one sample; 384 elements each. */
interface BertSample {
  readonly ids: Int32Array;
  readonly mask: Int32Array;
  readonly segments: Int32Array;
  /** Positions up to the last real token. */
  readonly length: number;
}

/** @throws MlperfError `ERR_DATA_SET` with the payload's fault. */
function readSample(payload: BorrowedBytes, form: string): BertSample {
  const inputCount = form === 'ids' ? 1 : INPUT_NAMES[0].length;
  const words = form === 'int64' ? 2 : 1;
  const bytes = inputCount * BERT_LENGTH * words * Int32Array.BYTES_PER_ELEMENT;
  if (payload.length !== bytes) {
    throw dataSetError(
      `a sample of bert in the form ${form} has ${bytes} bytes; this payload has ${payload.length}`,
    );
  }
  const aligned = new Int32Array(new Uint8Array(payload).buffer);
  const values = words === 1 ? aligned : lowWords(aligned);
  const ids = values.subarray(0, BERT_LENGTH);
  const bad = ids.findIndex((id) => id < 0);
  if (bad !== -1) throw dataSetError(`token id ${ids[bad]} at position ${bad} is below 0`);
  if (form === 'ids') return withMaskAndSegments(ids);
  const mask = values.subarray(BERT_LENGTH, 2 * BERT_LENGTH);
  const segments = values.subarray(2 * BERT_LENGTH);
  const place = values.subarray(BERT_LENGTH).findIndex((value) => value !== 0 && value !== 1);
  if (place !== -1) {
    const name = place < BERT_LENGTH ? 'mask' : 'segment ids';
    const what = `${values[BERT_LENGTH + place]} at position ${place % BERT_LENGTH}`;
    throw dataSetError(`the ${name} have ${what}; expected: 0 or 1`);
  }
  return { ids, mask, segments, length: endOf(mask) };
}

/** Low words of int64 elements that fit int32. */
function lowWords(words: Int32Array): Int32Array {
  return Int32Array.from({ length: words.length / 2 }, (_, i) => {
    const low = words[2 * i] as number; // In range: i is below half the length.
    if (words[2 * i + 1] === 0 && low >= 0) return low;
    throw dataSetError(`element ${i} of the payload is not from 0 to ${2 ** 31 - 1}`);
  });
}

function withMaskAndSegments(ids: Int32Array): BertSample {
  const length = endOf(ids);
  const separator = ids.indexOf(ids[length - 1] as number);
  const mask = new Int32Array(BERT_LENGTH).fill(1, 0, length);
  const segments = new Int32Array(BERT_LENGTH).fill(1, separator + 1, length);
  return { ids, mask, segments, length };
}

/** Index after the last non-zero element; 0 if all are 0. */
function endOf(values: Int32Array): number {
  return values.findLastIndex((value) => value !== 0) + 1;
}

function lengthOfSample(payload: BorrowedBytes, form: string): number {
  const { length } = readSample(payload, form);
  return Math.max(Math.ceil(length / LENGTH_STEP), 1) * LENGTH_STEP;
}

/** Fills the target; int64 is written as two words, low word first. */
function writeInput(values: Int32Array, target: TensorElements, words: number): void {
  const { buffer, byteOffset, length } = target;
  const view = new Int32Array(buffer as ArrayBuffer, byteOffset, length * words);
  if (words === 1) view.set(values.subarray(0, length));
  else {
    for (let i = 0; i < length; i += 1) {
      view[2 * i] = values[i] as number; // In range: a target is no longer than a sample.
      view[2 * i + 1] = 0;
    }
  }
}

/** @throws MlperfError `ERR_MODEL` if the outputs are not logits of the sample. */
function postprocess(outputs: ReadonlyMap<string, OutputTensor>, row: number): Uint8Array {
  const response = new Float32Array(2 * BERT_LENGTH).fill(NO_LOGIT);
  for (const [which, name] of OUTPUT_NAMES.entries()) {
    const { data, dims } = outputs.get(name) as OutputTensor; // Requested outputs are present.
    const length = dims[1] ?? 0;
    const isLogits = dims.length === 2 && length <= BERT_LENGTH && row < (dims[0] ?? 0);
    if (!isLogits) {
      const found = `[${dims.join(', ')}]`;
      throw modelError(`output "${name}" has the shape ${found}, not [batch, ${BERT_LENGTH}]`);
    }
    for (let i = 0; i < length; i += 1) {
      const logit = data[row * length + i] as number; // The model's check ensures floats.
      if (Number.isNaN(logit)) throw modelError(`logit ${i} of output "${name}" is NaN`);
      response[2 * i + which] = logit;
    }
  }
  return new Uint8Array(response.buffer);
}

/** A sample without padding: it needs the most memory. Its ids exist in every BERT vocabulary. */
function longestSample(): Uint8Array {
  const { clsId, sepId } = SQUAD_STANDIN_VOCABULARY;
  const ids = new Int32Array(BERT_LENGTH).fill(sepId);
  ids[0] = clsId;
  return new Uint8Array(ids.buffer);
}
