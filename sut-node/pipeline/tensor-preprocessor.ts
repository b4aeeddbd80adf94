import { readInPlace } from '../../shared/base/bytes/borrowed-bytes.ts';
import { dataSetError, type MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { TensorElements } from '../model/element-types.ts';
import type { PipelineInput } from '../model/model-facts.ts';
import { indexOfNotFinite } from './check-finite.ts';
import type { Preprocessor } from './model-pipeline.ts';
import { freeLengthOf, hasFreeAxes, sampleTensorBytes } from './sample-size.ts';

/** Names of forms that say the element type of a tensor, by ONNX's name for it. */
const FORM_OF_TYPE: Readonly<Record<string, string>> = {
  float: 'fp32',
  float16: 'fp16',
  double: 'fp64',
};

/** Length of the free axes of the warm-up sample: short, so that warm-up is. */
const WARM_UP_LENGTH = 8;

/** Forms in which the inputs themselves travel: `raw`, and the name of their element type where all have one. */
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
    // With several inputs a batch needs the rows of each side by side: those payloads are copied apart.
    tensorForms: inputs.length === 1 ? forms : [],
    ...(hasFreeAxes(inputs) ? { lengthOf } : {}),
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

/** A `bool` of ONNX is a byte of 0 or 1; NaN and infinities are refused (check-finite.ts says why). */
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
    const axes = sampleShape.map((length) => (length === 0 ? 'n' : String(length)));
    return `${name}: ${elementType} [${axes.join(', ')}]`;
  });
  const expected = hasFreeAxes(inputs)
    ? `${sampleTensorBytes(inputs, 1)} bytes with n = 1, ${sampleTensorBytes(inputs, 2)} with n = 2`
    : `${sampleTensorBytes(inputs, 1)} bytes`;
  return dataSetError(
    `a sample of ${shapes.join('; ')} has ${expected}; this payload has ${bytes}`,
  );
}
