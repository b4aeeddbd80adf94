import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { ModelTensor, ModelUsage, OpenedModel, PipelineInput } from '../model/model-facts.ts';

/**
 * Checks that a model takes exactly these inputs, in batches on the first axis, and has these outputs.
 * @param what What wants it so, for the message: `the benchmark digits`.
 * @throws MlperfError `ERR_MODEL` that tells what is expected and what the model has.
 */
export function checkModelFits(
  model: OpenedModel,
  what: string,
  expected: { readonly inputs: readonly PipelineInput[]; readonly outputNames: readonly string[] },
): void {
  const { inputs, outputNames } = expected;
  const fits =
    model.inputs.length === inputs.length &&
    inputs.every((input) => model.inputs.some((tensor) => isInput(input, tensor)));
  if (!fits) {
    const wanted = inputs.map(describeInput).join('; ');
    throw doesNotFit(model.file, what, `input ${wanted}`, model.inputs);
  }
  const isMissing = (name: string): boolean =>
    !model.outputs.some((tensor) => tensor.name === name);
  if (outputNames.some(isMissing)) {
    throw doesNotFit(model.file, what, `output ${outputNames.join(', ')}`, model.outputs);
  }
}

/**
 * Refuses what a description says to something that has its own way with a model.
 * @throws MlperfError `ERR_MODEL` naming the key that would have no effect.
 */
export function refuseUsage(usage: ModelUsage, what: string): void {
  const [key] = Object.keys(usage);
  if (key === undefined) return;
  throw new MlperfError(
    'ERR_MODEL',
    `the description's "${key}" has no effect: ${what} says itself how its model is used`,
  );
}

/** Writes a list of tensors for people: `image: float [free, 28, 28]`. */
export function listTensors(tensors: readonly ModelTensor[]): string {
  if (tensors.length === 0) return 'none';
  return tensors
    .map(({ name, elementType, shape }) => {
      const axes = shape.map((length) => (length === 0 ? 'free' : String(length)));
      return `${name}: ${elementType} [${axes.join(', ')}]`;
    })
    .join('; ');
}

function describeInput({ name, elementType, sampleShape }: PipelineInput): string {
  return `${name}: ${elementType} [batch, ${sampleShape.join(', ')}]`;
}

function isInput(expected: PipelineInput, found: ModelTensor): boolean {
  const { name, elementType, sampleShape } = expected;
  return (
    found.name === name &&
    found.elementType === elementType &&
    found.shape.length === sampleShape.length + 1 &&
    // A free axis takes any length.
    sampleShape.every((length, i) => found.shape[i + 1] === length || found.shape[i + 1] === 0)
  );
}

function doesNotFit(
  file: string,
  what: string,
  expected: string,
  found: readonly ModelTensor[],
): MlperfError {
  return new MlperfError(
    'ERR_MODEL',
    `${file} does not fit ${what}: expected ${expected}; found ${listTensors(found)}`,
  );
}
