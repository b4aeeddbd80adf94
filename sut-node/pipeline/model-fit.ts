import { modelError } from '../../shared/base/errors/mlperf-error.ts';
import type { PayloadEncoding } from '../../shared/domain/system-under-test.ts';
import {
  type BatchAxis,
  ELEMENT_TYPES,
  FREE,
  type ModelPipeline,
  type ModelTensor,
  type ModelTensors,
  type ModelUsage,
  NO_TENSOR,
  type OpenedModel,
  type PipelineInput,
} from '../model/model-facts.ts';

/**
 * Checks that a model takes exactly these inputs, in batches on the first axis, and has these
 * outputs.
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
    const wanted = inputs.map(({ name, elementType, sampleShape }) => {
      return `${name}: ${elementType} [batch, ${sampleShape.join(', ')}]`;
    });
    throw modelError(
      `${model.file} does not fit ${what}: expected input ${wanted.join('; ')}; ` +
        `found ${listTensors(model.inputs)}`,
    );
  }
  if (outputNames.every((name) => model.outputs.some((tensor) => tensor.name === name))) return;
  throw modelError(
    `${model.file} does not fit ${what}: expected output ${outputNames.join(', ')}; ` +
      `found ${listTensors(model.outputs)}`,
  );
}

function isInput(expected: PipelineInput, found: ModelTensor): boolean {
  const { name, elementType, sampleShape } = expected;
  const [batch, ...shape] = found.shape;
  const isNamedSo = found.name === name && found.elementType === elementType;
  return isNamedSo && batch !== undefined && shapeFits(shape, sampleShape);
}

/** True if axes of a model accept these lengths. */
export function shapeFits(axes: readonly number[], lengths: readonly number[]): boolean {
  return (
    axes.length === lengths.length && axes.every((axis, i) => axis === FREE || axis === lengths[i])
  );
}

/**
 * Refuses keys of a description that have no effect, because a benchmark decides how its model is
 * used.
 * @throws MlperfError `ERR_MODEL` naming the key that would have no effect.
 */
export function refuseUsage(usage: ModelUsage, what: string): void {
  const [key] = Object.keys(usage);
  if (key === undefined) return;
  throw modelError(
    `the description's "${key}" has no effect, because ${what} decides how its model is used; remove the key`,
  );
}

/** Writes a list of tensors for people: `image: float [free, 28, 28]`. */
export function listTensors(tensors: readonly ModelTensor[]): string {
  if (tensors.length === 0) return 'none';
  return tensors
    .map(({ name, elementType, shape, isRankUnknown }) =>
      isRankUnknown
        ? `${name}: ${elementType}, of unknown shape`
        : `${name}: ${elementType} [${shapeText(shape)}]`,
    )
    .join('; ');
}

function shapeText(shape: readonly number[]): string {
  return shape.map((length) => (length === FREE ? 'free' : String(length))).join(', ');
}

/**
 * Inputs to feed, in the order of the payload: the inputs that the usage names, or else all in the
 * model's own order. Names, types and shapes come from the model; a shape of the usage fills in
 * axes that the model leaves free.
 * @throws MlperfError `ERR_MODEL` if model and usage contradict each other, or if an input cannot
 *   be fed.
 */
export function pipelineInputs(model: OpenedModel, usage: ModelUsage): PipelineInput[] {
  if (model.inputs.length === 0) {
    throw modelError(`${model.file} has no input, so no payload can reach it`);
  }
  const wanted = usage.inputs ?? model.inputs.map(({ name }) => ({ name, shape: undefined }));
  const missing = model.inputs.find(({ name }) => !wanted.some((input) => input.name === name));
  if (missing !== undefined) {
    throw modelError(
      `${model.file} needs its input "${missing.name}", which the description does not list; ` +
        `the model has: ${listTensors(model.inputs)}`,
    );
  }
  return wanted.map(({ name, shape }) =>
    pipelineInput(model.file, tensorNamed(model, 'input', name), shape, usage.batchAxis ?? 0),
  );
}

/** @throws MlperfError `ERR_MODEL` that lists what the model has. */
export function tensorNamed(
  model: OpenedModel,
  kind: 'input' | 'output',
  name: string,
): ModelTensor {
  const tensors = model[`${kind}s`];
  const tensor = tensors.find((candidate) => candidate.name === name);
  if (tensor !== undefined) return tensor;
  throw modelError(`${model.file} has no ${kind} "${name}"; it has: ${listTensors(tensors)}`);
}

/** Words for the type of a tensor that longhaul does not know. */
export function isOfType(elementType: string): string {
  return elementType === NO_TENSOR
    ? `is no tensor, but a ${NO_TENSOR}`
    : `has elements of type ${elementType}`;
}

/** Gives inputs that have no shape in the model the shape of a sample from the description. */
export function withDescribedShapes(tensors: ModelTensors, usage: ModelUsage): ModelTensors {
  const inputs = tensors.inputs.map((input) => {
    const shape = usage.inputs?.find(({ name }) => name === input.name)?.shape;
    if (!input.isRankUnknown || shape === undefined) return input;
    const { name, elementType } = input;
    return { name, elementType, shape: usage.batchAxis === 'none' ? shape : [FREE, ...shape] };
  });
  return { ...tensors, inputs };
}

function pipelineInput(
  file: string,
  tensor: ModelTensor,
  wanted: readonly number[] | undefined,
  batchAxis: BatchAxis,
): PipelineInput {
  const { name, elementType, shape } = tensor;
  if (!ELEMENT_TYPES.has(elementType)) {
    throw modelError(
      `input "${name}" of ${file} ${isOfType(elementType)}; ` +
        `an input must be a tensor of ${[...ELEMENT_TYPES.keys()].join(', ')}`,
    );
  }
  if (tensor.isRankUnknown) {
    throw modelError(
      `input "${name}" of ${file} has no shape in the model, not even a number of axes; ` +
        `give the shape of one sample in a model description (inputs: [{ name: ${name}, shape: [3, 224, 224] }])`,
    );
  }
  if (batchAxis === 0 && shape.length === 0) {
    throw modelError(
      `input "${name}" of ${file} is a single number and has no batch axis; ` +
        'describe the model with "batchAxis: none"',
    );
  }
  const own = batchAxis === 0 ? shape.slice(1) : shape;
  if (wanted !== undefined && !shapeFits(own, wanted)) {
    throw modelError(
      `input "${name}" of ${file} takes samples of the shape [${shapeText(own)}]` +
        `${batchAxis === 0 ? ' after its batch axis' : ''}, ` +
        `and the description says [${wanted.join(', ')}]: change the description, or export the model again`,
    );
  }
  return { name, elementType, sampleShape: wanted ?? own };
}

/** Number of samples of one inference, and the axis that counts them. */
export interface BatchShape {
  /** False if inputs and outputs have no batch axis: one inference takes one sample. */
  readonly hasAxis: boolean;
  /** Samples of every inference; undefined if the model takes any number. */
  readonly sizeFixed: number | undefined;
  /**
   * Samples that differ in the length of free axes: `group` never puts them into one inference,
   * `pad` pads them with zeros to the longest.
   */
  readonly freeAxes: 'group' | 'pad';
}

/**
 * Reads the batch axis off a model's inputs.
 * @throws MlperfError `ERR_MODEL` where its inputs want different numbers of samples.
 */
export function batchShapeOf(model: OpenedModel, usage: ModelUsage): BatchShape {
  const freeAxes = usage.freeAxes ?? 'group';
  if (usage.batchAxis === 'none') return { hasAxis: false, sizeFixed: 1, freeAxes };
  const lengths = new Set(model.inputs.map(({ shape }) => shape[0] ?? FREE));
  if (lengths.size > 1) {
    throw modelError(
      `the inputs of ${model.file} have different first axes: ${listTensors(model.inputs)}; ` +
        'export the model with one batch axis, or describe it with "batchAxis: none"',
    );
  }
  const [length] = lengths;
  if (length === 0) {
    throw modelError(
      `the first axis of the inputs of ${model.file} has the length 0, so it counts no samples ` +
        `(${listTensors(model.inputs)}); describe it with "batchAxis: none"`,
    );
  }
  return { hasAxis: true, sizeFixed: length === FREE ? undefined : length, freeAxes };
}

/**
 * Checks that a model takes batches of the requested size.
 * @param asked Undefined: batches are as large as the model takes.
 * @throws MlperfError `ERR_MODEL` that tells what to change.
 */
export function checkBatchSize(
  model: OpenedModel,
  { hasAxis, sizeFixed }: BatchShape,
  asked: number | undefined,
): void {
  if (sizeFixed === undefined || asked === undefined || asked <= sizeFixed) return;
  const why = hasAxis
    ? `the model has no free batch axis: ${listTensors(model.inputs)}`
    : 'the description says "batchAxis: none"';
  throw modelError(
    `${model.file} takes batches of ${sizeFixed}, not --batch-size-max ${asked}, because ${why}; ` +
      `remove the setting, set it to ${sizeFixed}, or export the model with a free first axis`,
  );
}

/**
 * Checks that a model's pre-processor reads some form in which the benchmark's samples travel.
 * @param forms Forms that it reads.
 * @throws MlperfError `ERR_MODEL` that tells both.
 */
export function checkForms(forms: readonly string[], encodings: readonly PayloadEncoding[]): void {
  if (encodings.some(({ form }) => forms.includes(form))) return;
  const known = [...new Set(encodings.map(({ form }) => form))];
  throw modelError(
    `the model's pre-processor reads ${forms.join(', ')}, but samples of this benchmark travel as ` +
      `${known.join(', ')}: choose another "preprocess" in the description`,
  );
}

/**
 * Checks that a sample has a free axis if the description says `freeAxes: pad`.
 * @throws MlperfError `ERR_MODEL` that tells the shapes of a sample.
 */
export function checkFreeAxes(
  { lengthOf, inputs }: Pick<ModelPipeline, 'lengthOf' | 'inputs'>,
  { freeAxes }: ModelUsage,
): void {
  if (freeAxes !== 'pad' || lengthOf !== undefined) return;
  const shapes = inputs.map(({ sampleShape: shape, ...rest }) => ({ ...rest, shape }));
  throw modelError(
    `"freeAxes: pad" has no effect: no axis of a sample is free (${listTensors(shapes)}); remove it from the description`,
  );
}
