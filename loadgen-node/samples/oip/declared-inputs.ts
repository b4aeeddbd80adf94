import { configInvalid, type MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { type OipTensor, type SampleTensor, tensorText } from '../../../shared/domain/tensors.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/model-facts.ts';
import type { InputsAsked } from './parse-input-shapes.ts';

/**
 * The model with the inputs that `--input-shape NAME:DATATYPE:AXES` declares. A declaration stands for what ModelMetadata would
 * say: where the server tells its inputs the two must agree, and an axis that the server leaves free has the declared length.
 * @param benchmarkTensors Samples of the benchmark by encoding, for the flag that is shown; undefined: the model decides.
 * @throws MlperfError `ERR_CONFIG_INVALID` where the two differ, and where nobody says what the inputs are
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

/** What both say. */
function agreed(told: OipTensor, declared: OipTensor): OipTensor {
  const shape = declared.shape.map((length, axis) =>
    length === -1 ? (told.shape[axis] as number) : length,
  );
  const fits =
    declared.datatype === told.datatype &&
    declared.shape.length === told.shape.length &&
    shape.every((length, axis) => told.shape[axis] === -1 || told.shape[axis] === length);
  if (fits) return { ...told, shape };
  throw configInvalid(
    `${declarationText(declared)}: the server says that ${told.name} is ${tensorText(told)}; a declaration has all of its axes, also the one that counts samples`,
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
    `the server at ${address} tells no inputs of model ${name} (its ModelMetadata has none): say what each is, by ` +
      `--input-shape ${flag}; with -1x before the axes where the first one counts samples`,
  );
}

const EXAMPLE = 'NAME:DATATYPE:AXES, as in --input-shape image:FP32:3x224x224';

function declarationText({ name, datatype, shape }: OipTensor): string {
  return `--input-shape ${name}:${datatype}:${shape.join('x')}`;
}
