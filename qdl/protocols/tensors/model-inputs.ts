import { configInvalid, type MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { InputShapes, InputsAsked } from '../../../shared/domain/input-shapes.ts';
import {
  fitsShape,
  type OipTensor,
  type SampleTensor,
  tensorText,
} from '../../../shared/domain/tensors.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/request-plan.ts';

/**
 * The model with the inputs that `--input-shape NAME:DATATYPE:AXES` declares. A declaration
 * replaces missing ModelMetadata. If the server reports its inputs, both must agree; an axis that
 * the server leaves free gets the declared length.
 * @param benchmarkTensors Samples of the benchmark by encoding, to suggest a flag; undefined: the
 * model decides.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the two differ, or the inputs are unknown
 */
export function withDeclaredInputs(
  facts: OipModelFacts,
  asked: InputsAsked,
  benchmarkTensors: Readonly<Record<string, SampleTensor>> | undefined,
): OipModelFacts {
  const { declaredInputs } = asked;
  if (facts.inputs.length === 0) {
    if (declaredInputs.length === 0) throw noInputs(facts, asked, benchmarkTensors);
    return { ...facts, inputs: declaredInputs };
  }
  const unknown = declaredInputs.find(({ name }) => !facts.inputs.some((one) => one.name === name));
  if (unknown !== undefined) {
    const names = facts.inputs.map(({ name }) => name).join(', ');
    throw configInvalid(
      `${declarationText(unknown)}: the model has no such input; it has ${names}`,
    );
  }
  const inputs = facts.inputs.map((told) => {
    const declared = declaredInputs.find(({ name }) => name === told.name);
    return declared === undefined ? told : agreed(told, declared);
  });
  return { ...facts, inputs };
}

/** Joins both; throws if they differ. */
function agreed(told: OipTensor, declared: OipTensor): OipTensor {
  const shape = declared.shape.map((length, axis) =>
    length === -1 ? (told.shape[axis] as number) : length,
  );
  if (declared.datatype === told.datatype && fitsShape(shape, told.shape)) {
    return { ...told, shape };
  }
  throw configInvalid(
    `${declarationText(declared)}: the server reports ${told.name} as ${tensorText(told)}; declare all of its axes, including the one that counts samples`,
  );
}

function noInputs(
  { name, address }: OipModelFacts,
  { inputShapes }: InputsAsked,
  benchmarkTensors: Readonly<Record<string, SampleTensor>> | undefined,
): MlperfError {
  const said = [...inputShapes].map(([input, shape]) => `${input}:DATATYPE:${shape.join('x')}`);
  const ofBenchmark = Object.values(benchmarkTensors ?? {}).map(({ datatype, shape }) => {
    const axes = shape.map((length) => (length === -1 ? 'N' : length)).join('x');
    return `NAME:${datatype}:${axes}`;
  });
  const flags = said.length > 0 ? [said.join(',')] : ofBenchmark;
  const flag = flags.length > 0 ? flags.join(' or ') : EXAMPLE;
  return configInvalid(
    `the server at ${address} reports no inputs of model ${name} (its ModelMetadata has none): declare each by ` +
      `--input-shape ${flag}; write -1x before the axes if the first one counts samples`,
  );
}

const EXAMPLE = 'NAME:DATATYPE:AXES, as in --input-shape image:FP32:3x224x224';

function declarationText({ name, datatype, shape }: OipTensor): string {
  return `--input-shape ${name}:${datatype}:${shape.join('x')}`;
}

type BatchFacts = Pick<OipModelFacts, 'inputs' | 'batchSizeMax'>;

/**
 * True if the first axis of every input counts samples: all inputs leave it free, as in the
 * metadata of nearly all servers. If the server reports a largest batch, 0 means that no axis
 * counts samples. If the server reports none, a requested shape with all axes of its input means
 * so, too: then the first axis belongs to the sample.
 */
export function hasBatchAxis(
  { inputs, batchSizeMax }: BatchFacts,
  asked: InputShapes = new Map(),
): boolean {
  if (batchSizeMax === 0 || inputs.length === 0 || !inputs.every(isFreeFirst)) return false;
  const isAllAsked = inputs.some(({ name, shape }) => asked.get(name)?.length === shape.length);
  return batchSizeMax !== undefined || !isAllAsked;
}

/** True if an input or output leaves its first axis free. */
export function isFreeFirst({ shape }: OipTensor): boolean {
  return shape[0] === -1;
}
