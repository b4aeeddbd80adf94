import { readInPlace } from '../../shared/base/bytes/borrowed-bytes.ts';
import { dataSetError, type MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import {
  FREE,
  type PipelineInput,
  type Preprocessor,
  type TensorElements,
} from '../model/model-facts.ts';
import { freeLengthOf, hasFreeAxes, sampleTensorBytes } from './sample-size.ts';

/** Names of forms that say the element type of a tensor, by ONNX's name for it. */
const FORM_OF_TYPE: Readonly<Record<string, string>> = {
  float: 'fp32',
  float16: 'fp16',
  double: 'fp64',
};

/** Length of the free axes of the warm-up sample; short, so that the warm-up is short. */
const WARM_UP_LENGTH = 8;

/**
 * Forms in which the inputs themselves travel: `raw`, and the name of their element type if all
 * inputs have the same one.
 */
export function ownForms(inputs: readonly PipelineInput[]): string[] {
  const types = new Set(inputs.map(({ elementType }) => FORM_OF_TYPE[elementType] ?? elementType));
  return types.size === 1 ? ['raw', ...types] : ['raw'];
}

/**
 * Payloads that are the inputs themselves: the elements of all inputs in their order, row-major and
 * little-endian, which is how ONNX Runtime and every machine that it runs on hold them.
 * @param forms Names under which such payloads come.
 */
export function tensorPreprocessor(
  inputs: readonly PipelineInput[],
  forms: readonly string[],
): Preprocessor {
  const lengthOf = (bytes: number): number => {
    const length = bytes === 0 ? undefined : freeLengthOf(inputs, bytes);
    if (length === undefined) throw wrongByteCount(inputs, bytes);
    return length;
  };
  return {
    forms,
    // With several inputs, a batch needs the rows of each input side by side, so each payload is
    // copied in parts.
    tensorForms: inputs.length === 1 ? forms : [],
    ...(hasFreeAxes(inputs) ? { lengthOf: (payload) => lengthOf(payload.length) } : {}),
    checkTensor: (payload) => {
      lengthOf(payload.length);
      checkElements(inputs[0] as PipelineInput, readInPlace(payload));
    },
    preprocess: async (payload, _form, targets) => {
      lengthOf(payload.length);
      let begin = 0;
      for (const [i, input] of inputs.entries()) {
        const target = bytesOf(targets[i] as TensorElements); // One per input.
        target.set(payload.subarray(begin, begin + target.length));
        checkElements(input, target);
        begin += target.length;
      }
    },
    warmUpPayload: () => ({
      form: forms[0] as string, // At least one.
      payload: new Uint8Array(sampleTensorBytes(inputs, WARM_UP_LENGTH)),
    }),
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: TensorElements): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** @throws MlperfError `ERR_DATA_SET` for a form that a pre-processor does not read. */
export function checkForm(form: string, forms: readonly string[]): void {
  if (forms.includes(form)) return;
  throw dataSetError(
    `the model's pre-processor reads no payload of the form "${form}"; it reads: ${forms.join(', ')}`,
  );
}

/** A `bool` of ONNX is a byte of 0 or 1; NaN and infinities are refused (why: below). */
function checkElements({ name, elementType }: PipelineInput, bytes: Uint8Array): void {
  const place =
    elementType === 'bool'
      ? bytes.findIndex((byte) => byte > 1)
      : indexOfNotFinite(bytes, elementType);
  if (place === -1) return;
  const what =
    elementType === 'bool' ? `${bytes[place]}, which is no bool (0 or 1)` : 'NaN or infinite';
  throw dataSetError(`element ${place} of input "${name}" is ${what}`);
}

function wrongByteCount(inputs: readonly PipelineInput[], bytes: number): MlperfError {
  const shapes = inputs.map(({ name, elementType, sampleShape }) => {
    const axes = sampleShape.map((length) => (length === FREE ? 'n' : String(length)));
    return `${name}: ${elementType} [${axes.join(', ')}]`;
  });
  const expected = hasFreeAxes(inputs)
    ? `${sampleTensorBytes(inputs, 1)} bytes with n = 1, ${sampleTensorBytes(inputs, 2)} with n = 2`
    : `${sampleTensorBytes(inputs, 1)} bytes`;
  return dataSetError(
    `a sample of ${shapes.join('; ')} has ${expected}; this payload has ${bytes}`,
  );
}

/** Bits of the exponent of float16: all of them are set only in infinities and in NaN. */
const EXPONENT_16 = 0x7c00;

/**
 * Index of the first element that is NaN or infinite, or -1. Types without such numbers are not
 * searched.
 *
 * One such number in a sample spoils its result. If the model has operators across the rows of a
 * batch, it can also spoil the results of other samples. So the sample fails, and the node says
 * why. A quick sum over all elements finds bad payloads, and only those are searched for the place.
 * The sum takes 0.07 ms per 150,000 floats, less than half the time of a test of each element.
 * @param bytes The elements; of any alignment.
 * @param elementType ONNX's name in lower case.
 */
export function indexOfNotFinite(bytes: Uint8Array, elementType: string): number {
  switch (elementType) {
    case 'float': {
      const values = new Float32Array(...aligned(bytes, 4));
      return isFinite4(values) ? -1 : values.findIndex((value) => !Number.isFinite(value));
    }
    case 'double': {
      const values = new Float64Array(...aligned(bytes, 8));
      return isFinite4(values) ? -1 : values.findIndex((value) => !Number.isFinite(value));
    }
    case 'float16':
      return indexOfBadWord(new Uint16Array(...aligned(bytes, 2)));
    default:
      return -1;
  }
}

/**
 * True if all elements are finite: zero times a finite number is zero, and a sum of zeros is not
 * NaN. There are four sums, because each addition waits for the one before it.
 */
function isFinite4(values: Float32Array | Float64Array): boolean {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 3 < values.length; i += 4) {
    a += (values[i] as number) * 0; // In range, here and below.
    b += (values[i + 1] as number) * 0;
    c += (values[i + 2] as number) * 0;
    d += (values[i + 3] as number) * 0;
  }
  for (; i < values.length; i += 1) a += (values[i] as number) * 0;
  return !Number.isNaN(a + b + c + d);
}

function indexOfBadWord(words: Uint16Array): number {
  for (let i = 0; i < words.length; i += 1) {
    if (((words[i] as number) & EXPONENT_16) === EXPONENT_16) return i; // In range: i < length.
  }
  return -1;
}

/**
 * The elements, copied to new memory if a typed array cannot begin at their place.
 */
function aligned(bytes: Uint8Array, size: number): [ArrayBuffer, number, number] {
  const { buffer, byteOffset, byteLength } =
    bytes.byteOffset % size === 0 ? bytes : Uint8Array.from(bytes);
  return [buffer as ArrayBuffer, byteOffset, byteLength / size];
}
