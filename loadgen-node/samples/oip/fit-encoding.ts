import {
  configInvalid,
  type MlperfError,
  modelError,
} from '../../../shared/base/errors/mlperf-error.ts';
import {
  type OipTensor,
  type SampleTensor,
  tensorsText,
  tensorText,
} from '../../../shared/domain/tensors.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/model-facts.ts';

/** A benchmark's encoding as a model takes it. */
export interface FittedEncoding {
  /** Key of the benchmark's encodings. */
  readonly encodingName: string;
  /** True where an axis before the sample's own counts samples. */
  readonly hasBatchAxis: boolean;
  /** The model's input with the shape of one sample; -1 where the length of the payload decides. */
  readonly input: OipTensor;
}

type FitFacts = Pick<OipModelFacts, 'name' | 'inputs' | 'address'>;

/**
 * The encoding of a benchmark whose payloads are what the model's input takes, by datatype and shape: nothing is ever
 * converted, as that would be pre-processing.
 * @param asked The only encoding that may be taken; undefined: any.
 * @throws MlperfError `ERR_MODEL` that shows both sides, and `ERR_CONFIG_INVALID` where several fit and none was asked for
 */
export function fitEncoding(
  rules: Pick<BenchmarkRules, 'key' | 'sampleTensors'>,
  facts: FitFacts,
  asked: string | undefined,
): FittedEncoding {
  const fitting = fittingEncodings(rules, facts);
  const chosen =
    asked === undefined ? fitting : fitting.filter(({ encodingName }) => encodingName === asked);
  const [first, second] = chosen;
  if (first === undefined) throw mismatch(rules, facts, asked, fitting);
  if (second === undefined) return first;
  const names = chosen.map(({ encodingName }) => encodingName).join(', ');
  throw configInvalid(
    `model ${facts.name} takes more than one encoding of benchmark ${rules.key} (${names}): say which by --encoding`,
  );
}

/** Encodings that the model takes. */
function fittingEncodings(
  { sampleTensors = {} }: Pick<BenchmarkRules, 'sampleTensors'>,
  { inputs }: FitFacts,
): FittedEncoding[] {
  const [input, another] = inputs;
  if (input === undefined || another !== undefined) return [];
  return Object.entries(sampleTensors).flatMap(([encodingName, tensor]) => {
    const fitted = fitInput(tensor, input);
    return fitted === undefined ? [] : [{ encodingName, ...fitted }];
  });
}

/** A sample as it goes into an input: with an axis before its own, or without. */
function fitInput(
  { datatype, shape }: SampleTensor,
  input: OipTensor,
): Omit<FittedEncoding, 'encodingName'> | undefined {
  if (datatype !== input.datatype) return undefined;
  const plain = joinShapes(shape, input.shape);
  if (plain !== undefined) return { hasBatchAxis: false, input: { ...input, shape: plain } };
  const [batch, ...own] = input.shape;
  const joined = batch === -1 || batch === 1 ? joinShapes(shape, own) : undefined;
  return joined === undefined
    ? undefined
    : { hasBatchAxis: true, input: { ...input, shape: joined } };
}

/** What both allow; undefined where they differ. */
function joinShapes(a: readonly number[], b: readonly number[]): number[] | undefined {
  if (a.length !== b.length) return undefined;
  const joined = a.map((length, axis) => (length === -1 ? (b[axis] as number) : length));
  return joined.every((length, axis) => b[axis] === -1 || b[axis] === length) ? joined : undefined;
}

function mismatch(
  rules: Pick<BenchmarkRules, 'key' | 'sampleTensors'>,
  facts: FitFacts,
  asked: string | undefined,
  fitting: readonly FittedEncoding[],
): MlperfError {
  const { key, sampleTensors = {} } = rules;
  const has = Object.entries(sampleTensors)
    .map(([name, tensor]) => `${name} ${tensorText(tensor)}`)
    .join(', ');
  const begin =
    asked === undefined
      ? `no sample of benchmark ${key} fits model ${facts.name} of ${facts.address}`
      : `--encoding ${asked} of benchmark ${key} does not fit model ${facts.name} of ${facts.address}`;
  const sides = `the model takes ${tensorsText(facts.inputs)}; a sample of ${key} is ${has}`;
  const advice = fitting.map(
    ({ encodingName }) =>
      `--encoding ${encodingName} fits (in a program: openSamples({ encoding: '${encodingName}', ... }))`,
  );
  const reasons = [...whyNot(rules, facts), ...advice];
  if (fitting.length === 0) reasons.push('--data random gives samples of the right shape');
  return modelError(`${begin}: ${sides}. ${reasons.join('; ')}`);
}

/** What is nearly right, for people. */
function whyNot(
  { sampleTensors = {} }: Pick<BenchmarkRules, 'sampleTensors'>,
  { inputs }: FitFacts,
): string[] {
  const [input, another] = inputs;
  if (input === undefined) return ['the server describes no inputs'];
  if (another !== undefined) {
    return [`a sample is one tensor, and the model has ${inputs.length} inputs`];
  }
  const permuted = Object.entries(sampleTensors).find(
    ([, { datatype, shape }]) =>
      datatype === input.datatype &&
      fitInput({ datatype, shape }, input) === undefined &&
      (isPermuted(shape, input.shape) || isPermuted(shape, input.shape.slice(1))),
  );
  if (permuted === undefined) return [];
  const [name] = permuted;
  return [
    `${name} has the same axes in another order (channels last or first), and samples are never converted: serve the model with the order of the benchmark`,
  ];
}

/** The same lengths in another order. */
function isPermuted(a: readonly number[], b: readonly number[]): boolean {
  const sorted = (shape: readonly number[]): string =>
    JSON.stringify([...shape].sort((one, other) => one - other));
  return a.length > 1 && sorted(a) === sorted(b);
}
