import {
  configInvalid,
  type MlperfError,
  modelError,
} from '../../../shared/base/errors/mlperf-error.ts';
import {
  type InputShapes,
  inputShapeText,
  resolveInputs,
} from '../../../shared/domain/input-shapes.ts';
import {
  fitsShape,
  type NamedTensor,
  type OipTensor,
  type SampleTensor,
  sampleBytes,
  tensorsText,
  tensorText,
} from '../../../shared/domain/tensors.ts';
import { type ResponseClass, responseClass } from '../../../shared/rules/response-class.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import type { OipModelFacts } from '../../../shared/wire/oip/request-plan.ts';
import type { SampleInput } from '../../dispatch/preparation.ts';
import { hasBatchAxis } from './model-inputs.ts';

/** A run's samples and responses in the model's terms. */
export interface RequestLayout {
  /** Axes may be free if samples have their own lengths. */
  readonly inputs: readonly SampleInput[];
  readonly hasBatchAxis: boolean;
  /** Empty if the server does not report them before a response. */
  readonly outputs: readonly OipTensor[];
  /** Encoding of the benchmark's samples; undefined for other samples. */
  readonly encodingName: string | undefined;
  /** Set if the benchmark expects a class. */
  readonly responseClass: ResponseClass | undefined;
}

type LayoutRules = Pick<BenchmarkRules, 'key' | 'sampleTensors' | 'responseTensor'>;

/**
 * Fits a benchmark's samples and responses to a model's inputs and outputs.
 * @param encodingName Requested encoding; undefined: any that fits.
 * @param payloadBytes Payload bytes, if the benchmark leaves them to the run; otherwise undefined.
 * @throws MlperfError `ERR_MODEL`, `ERR_CONFIG_INVALID` with both sides in the message
 */
export function requestLayout(
  rules: LayoutRules,
  facts: OipModelFacts,
  inputShapes: InputShapes,
  encodingName: string | undefined,
  payloadBytes: number | undefined,
): RequestLayout {
  return rules.sampleTensors === undefined
    ? modelLayout(facts, inputShapes)
    : benchmarkLayout(rules, facts, inputShapes, encodingName, payloadBytes);
}

/** A benchmark's model and samples, if they fit. */
function benchmarkLayout(
  rules: LayoutRules,
  facts: OipModelFacts,
  inputShapes: InputShapes,
  encodingName: string | undefined,
  payloadBytes: number | undefined,
): RequestLayout {
  if (inputShapes.size > 0) {
    throw configInvalid(
      `--input-shape is for samples that follow the model; benchmark ${rules.key} fixes the shape of its samples`,
    );
  }
  const fitted = fitEncoding(rules, facts, encodingName);
  const layout = {
    inputs: [withBytes(withLength(fitted.input, payloadBytes))],
    hasBatchAxis: fitted.hasBatchAxis,
    outputs: [],
    encodingName: fitted.encodingName,
    responseClass: undefined,
  };
  return facts.outputs.length === 0 ? layout : withOutputs(layout, rules, facts.outputs);
}

/**
 * The layout with the outputs to read: those of the server's metadata, or else of a response.
 * @throws MlperfError `ERR_MODEL` if the benchmark expects a class and no output holds it
 */
export function withOutputs(
  layout: RequestLayout,
  rules: LayoutRules,
  outputs: readonly OipTensor[],
): RequestLayout {
  const { sampleTensors, responseTensor } = rules;
  const asksForClass =
    sampleTensors !== undefined &&
    responseTensor !== undefined &&
    !responseTensor.shape.includes(-1);
  if (!asksForClass) return { ...layout, outputs };
  const found = responseClass(rules, responseTensor, outputs, layout.hasBatchAxis);
  return { ...layout, outputs: [found.output], responseClass: found };
}

/** Layout without a benchmark: the model alone decides. */
function modelLayout(facts: OipModelFacts, inputShapes: InputShapes): RequestLayout {
  const hasBatch = hasBatchAxis(facts, inputShapes);
  // Only the server knows the meaning of its first axis.
  const shapeHint = hasBatch && facts.batchSizeMax === undefined ? ownAxisHint(facts) : undefined;
  return {
    inputs: resolveInputs(facts.inputs, inputShapes, hasBatch).map((input) => ({
      ...withBytes(input),
      shapeHint,
    })),
    hasBatchAxis: hasBatch,
    outputs: facts.outputs,
    encodingName: undefined,
    responseClass: undefined,
  };
}

/** Hint for a first axis that was assumed to count samples but belongs to the sample. */
function ownAxisHint({ inputs }: OipModelFacts): string {
  const flag = inputs.map((input) => inputShapeText(input, '-1')).join(',');
  return (
    '; the server does not report whether the first axis counts samples; longhaul assumes that it does. ' +
    `If it belongs to the sample, use --input-shape ${flag} (-1: any length)`
  );
}

function withBytes(input: OipTensor): SampleInput {
  return { ...input, sampleBytes: sampleBytes(input) };
}

/** The layout of samples that are all like this one. */
export function layoutOfSample(
  layout: RequestLayout,
  sample: readonly NamedTensor[],
): RequestLayout {
  const inputs = sample.map(({ name, datatype, shape, raw }) => ({
    name,
    datatype,
    shape,
    sampleBytes: raw.length,
  }));
  return { ...layout, inputs };
}

/** One free axis of bytes gets the length of the payload. */
function withLength(input: OipTensor, payloadBytes: number | undefined): OipTensor {
  if (payloadBytes === undefined || input.datatype !== 'UINT8') return input;
  const { shape } = input;
  if (shape.filter((length) => length === -1).length !== 1) return input;
  return { ...input, shape: shape.map((length) => (length === -1 ? payloadBytes : length)) };
}

/** A benchmark's encoding as the model takes it. */
interface FittedEncoding {
  /** Key of the benchmark's encodings. */
  readonly encodingName: string;
  /** True if an axis before the sample's own counts samples. */
  readonly hasBatchAxis: boolean;
  /** The model's input with the shape of one sample; -1 if the payload's length decides. */
  readonly input: OipTensor;
}

type FitFacts = Pick<OipModelFacts, 'name' | 'inputs' | 'address'>;

/**
 * The encoding of a benchmark whose payloads fit the model's input by datatype and shape. No
 * conversion: that would be pre-processing.
 * @param asked The only allowed encoding; undefined: any.
 * @throws MlperfError `ERR_MODEL` with both sides, and `ERR_CONFIG_INVALID` if several fit and none
 * was requested
 */
function fitEncoding(
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
    `model ${facts.name} takes more than one encoding of benchmark ${rules.key} (${names}); choose one by --encoding`,
  );
}

/** Encodings that the model accepts. */
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

/** A sample as an input: with a batch axis before its own, or without. */
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

/** Shape that fits both; undefined if they differ. */
function joinShapes(a: readonly number[], b: readonly number[]): number[] | undefined {
  const joined = a.map((length, axis) => (length === -1 ? (b[axis] as number) : length));
  return fitsShape(joined, b) ? joined : undefined;
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

/** Reasons for a mismatch, for people. */
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
    `${name} has the same axes in another order (channels last or first), and longhaul never converts samples: serve the model with the benchmark's order of axes`,
  ];
}

/** True for the same lengths in another order. */
function isPermuted(a: readonly number[], b: readonly number[]): boolean {
  const sorted = (shape: readonly number[]): string =>
    JSON.stringify([...shape].sort((one, other) => one - other));
  return a.length > 1 && sorted(a) === sorted(b);
}
