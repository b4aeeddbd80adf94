import { configInvalid } from '../base/errors/mlperf-error.ts';
import { fitsShape, isOipDataType, type OipTensor } from './tensors.ts';

/**
 * Inputs of one sample: without the batch axis, with requested shapes applied. Axes that neither
 * the model nor a shape fixes stay free (-1): samples from files have their own lengths, and {@link
 * requireKnownShapes} refuses free axes for all others.
 * @param inputs As the server describes them.
 * @param overrides Shapes of one sample, without the batch axis.
 * @param hasBatchAxis True if the first axis of every input counts samples.
 * @throws MlperfError `ERR_CONFIG_INVALID` if a shape names no input, or contradicts the model.
 */
export function resolveInputs(
  inputs: readonly OipTensor[],
  overrides: InputShapes,
  hasBatchAxis: boolean,
): readonly OipTensor[] {
  const unknown = [...overrides.keys()].find((name) => !inputs.some((one) => one.name === name));
  if (unknown !== undefined) {
    const names = inputs.map(({ name }) => name).join(', ');
    throw configInvalid(`--input-shape ${unknown}: the model has no such input; it has ${names}`);
  }
  return inputs.map((input) => {
    const shape = hasBatchAxis ? input.shape.slice(1) : input.shape;
    const asked = overrides.get(input.name);
    if (asked !== undefined) checkFits(input.name, asked, shape, hasBatchAxis);
    return { ...input, shape: asked ?? shape };
  });
}

/**
 * Requires known lengths, for generated samples. They are never guessed, since another length is
 * another load.
 * @param inputs Inputs of one sample from {@link resolveInputs}.
 * @throws MlperfError `ERR_CONFIG_INVALID` with the missing flag.
 */
export function requireKnownShapes(inputs: readonly OipTensor[]): void {
  const free = inputs.filter(({ shape }) => shape.includes(-1));
  if (free.length === 0) return;
  const flag = free.map((input) => inputShapeText(input, 'N')).join(',');
  throw configInvalid(
    `the model leaves axes free (-1 in ${free.map(inShort).join(', ')}): give their lengths for one sample by --input-shape ${flag}, with a number for each N`,
  );
}

/**
 * An input in the form of `--input-shape`.
 * @param freeLength Text for each axis of unknown length.
 */
export function inputShapeText(
  { name, shape }: Pick<OipTensor, 'name' | 'shape'>,
  freeLength: string,
): string {
  return `${name}:${shape.map((length) => (length === -1 ? freeLength : length)).join('x')}`;
}

/** @throws MlperfError `ERR_CONFIG_INVALID` */
function checkFits(
  name: string,
  asked: readonly number[],
  shape: readonly number[],
  hasBatchAxis: boolean,
): void {
  if (fitsShape(asked, shape)) return;
  const batchHint =
    hasBatchAxis && asked.length === shape.length + 1
      ? '; leave out the axis that counts samples'
      : '';
  throw configInvalid(
    `--input-shape ${name}:${asked.join('x')}: a sample of the model has the shape [${shape.join(', ')}]${batchHint}`,
  );
}

function inShort({ name, shape }: OipTensor): string {
  return `${name} [${shape.join(', ')}]`;
}

/** Axis lengths of one sample by input name, from `--input-shape`; -1: any. */
export type InputShapes = ReadonlyMap<string, readonly number[]>;

/** Parsed value of `--input-shape`. */
export interface InputsAsked {
  /** Shapes of inputs that the server reports, or that are declared. */
  readonly inputShapes: InputShapes;
  /**
   * Declared inputs in the form of server metadata: an axis that counts samples comes first and is
   * -1.
   */
  readonly declaredInputs: readonly OipTensor[];
}

/** Longest accepted axis. */
const LENGTH_MAX: number = 2 ** 31 - 1;

const FORMS =
  'must be NAME:LENGTHxLENGTH..., as in image:3x224x224, or NAME:DATATYPE:LENGTHxLENGTH..., as in image:FP32:-1x3x224x224';

/**
 * Parses shapes such as `NAME:3x224x224`, and declarations such as `NAME:FP32:-1x3x224x224`;
 * `NAME:` is the shape of a scalar. Names may contain colons: the last one separates, or the last
 * two around a datatype.
 * @throws MlperfError `ERR_CONFIG_INVALID` naming the malformed text.
 */
export function parseInputShapes(texts: readonly string[]): InputsAsked {
  const inputShapes = new Map<string, readonly number[]>();
  const declared = new Map<string, OipTensor>();
  for (const text of texts) {
    const declaration = declaredInput(text);
    const { name, shape } = declaration ?? inputShape(text);
    const known: ReadonlyMap<string, unknown> = declaration === undefined ? inputShapes : declared;
    if (known.has(name)) throw configInvalid(`--input-shape names ${name} twice`);
    if (declaration === undefined) inputShapes.set(name, shape);
    else declared.set(name, declaration);
  }
  return { inputShapes, declaredInputs: [...declared.values()] };
}

/** Undefined for a text without a datatype before its lengths. */
function declaredInput(text: string): OipTensor | undefined {
  const [, name, datatype, axes] =
    /^(.+):([^:]+):((?:(?:\d+|-1)(?:x(?:\d+|-1))*)?)$/s.exec(text) ?? [];
  if (name === undefined || datatype === undefined || axes === undefined) return undefined;
  return isOipDataType(datatype) ? { name, datatype, shape: lengthsOf(axes, text) } : undefined;
}

function inputShape(text: string): Pick<OipTensor, 'name' | 'shape'> {
  const [, name, axes] = /^(.+):((?:(?:\d+|-1)(?:x(?:\d+|-1))*)?)$/s.exec(text) ?? [];
  if (name === undefined || axes === undefined) {
    throw configInvalid(`--input-shape ${text}: ${FORMS}`);
  }
  return { name, shape: lengthsOf(axes, text) };
}

function lengthsOf(axes: string, text: string): number[] {
  const lengths = axes === '' ? [] : axes.split('x').map(Number);
  if (lengths.every((length) => length === -1 || (length >= 0 && length <= LENGTH_MAX))) {
    return lengths;
  }
  throw configInvalid(
    `--input-shape ${text}: an axis has a length from 0 to ${LENGTH_MAX}, or -1 if it varies by sample`,
  );
}
