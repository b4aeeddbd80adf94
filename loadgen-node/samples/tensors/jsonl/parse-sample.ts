import {
  elementCount,
  type NamedTensor,
  OIP_ELEMENT_BYTES,
  type OipTensor,
  type WantedTensor,
} from '../../../../shared/domain/tensors.ts';
import { fitShape, shapeText } from '../tensor-data-set.ts';
import { base64Bytes, ElementError, encodeElements, parseExactJson } from './encode-elements.ts';

/** Why a line is not a valid sample. */
export class SampleError extends Error {}

/** Contents of one input in a line. */
interface GivenTensor {
  /** Shape given in the line; undefined: that of its arrays. */
  readonly shape: readonly number[] | undefined;
  readonly data: unknown;
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses one line as one sample: either `{"inputs": [{"name", "datatype", "shape", "data"}]}`, the
 * protocol's REST form, or `{"NAME": data}`. Data are nested arrays, or a flat array, or
 * `{"b64": "raw contents", "shape": [...]}`.
 * @param inputs Inputs of one sample.
 * @throws SampleError
 */
export function parseSample(text: string, inputs: readonly WantedTensor[]): readonly NamedTensor[] {
  const given = givenTensors(parseObject(text), inputs);
  const unknown = [...given.keys()].find((name) => !inputs.some((input) => input.name === name));
  if (unknown !== undefined) {
    const names = inputs.map(({ name }) => name).join(', ');
    throw new SampleError(`"${unknown}" is not an input of the model, which has ${names}`);
  }
  return inputs.map((input) => {
    const one = given.get(input.name);
    if (one === undefined) throw new SampleError(`has no input "${input.name}"`);
    try {
      return tensorOf(one, input);
    } catch (error) {
      if (!(error instanceof SampleError) && !(error instanceof ElementError)) throw error;
      throw new SampleError(`input "${input.name}": ${error.message}`, { cause: error });
    }
  });
}

function parseObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SampleError(`is not JSON (${error.message.slice(0, 100)})`, { cause: error });
  }
  if (isObject(value)) return value;
  throw new SampleError('must be an object: {"NAME": data, ...} or {"inputs": [...]}');
}

function givenTensors(
  sample: JsonObject,
  inputs: readonly OipTensor[],
): ReadonlyMap<string, GivenTensor> {
  const list = sample['inputs'];
  const isRest = Array.isArray(list) && list.every((entry) => isObject(entry) && 'name' in entry);
  if (!isRest || list.length === 0) {
    return new Map(Object.entries(sample).map(([name, value]) => [name, shortForm(value)]));
  }
  // An "id" is accepted for other tools; every request gets its own.
  refuseOthers(sample, ['inputs', 'id'], 'the sample');
  const given = new Map<string, GivenTensor>();
  for (const entry of list as JsonObject[]) {
    const name = String(entry['name']);
    if (given.has(name)) throw new SampleError(`has the input "${name}" twice`);
    refuseOthers(entry, ['name', 'shape', 'datatype', 'data'], `input "${name}"`);
    checkDatatype(entry['datatype'], inputs, name);
    given.set(name, { shape: shapeOf(entry['shape'], name), data: entry['data'] });
  }
  return given;
}

function shortForm(value: unknown): GivenTensor {
  const shape = isObject(value) && 'b64' in value ? shapeOf(value['shape'], '') : undefined;
  return { shape, data: value };
}

/** Refuses keys whose values would be ignored. */
function refuseOthers(object: JsonObject, known: readonly string[], where: string): void {
  const other = Object.keys(object).find((key) => !known.includes(key));
  if (other === undefined) return;
  throw new SampleError(`"${other}" of ${where} would be ignored; allowed are ${known.join(', ')}`);
}

function checkDatatype(datatype: unknown, inputs: readonly OipTensor[], name: string): void {
  const input = inputs.find((one) => one.name === name);
  if (datatype === undefined || input === undefined || datatype === input.datatype) return;
  throw new SampleError(
    `input "${name}" is ${JSON.stringify(datatype)} here; the model has ${input.datatype}`,
  );
}

function shapeOf(shape: unknown, name: string): readonly number[] | undefined {
  if (shape === undefined) return undefined;
  const isShape =
    Array.isArray(shape) && shape.every((length) => Number.isSafeInteger(length) && length >= 0);
  if (isShape) return shape as number[];
  const whose = name === '' ? '' : ` of input "${name}"`;
  throw new SampleError(`the shape${whose} must be a list of lengths, for example [3, 224, 224]`);
}

function tensorOf({ shape, data }: GivenTensor, input: WantedTensor): NamedTensor {
  const { name, datatype } = input;
  const raw = datatype === 'BYTES' ? undefined : base64Bytes(data);
  if (raw !== undefined) {
    const count = raw.length / OIP_ELEMENT_BYTES[datatype];
    if (!Number.isInteger(count)) {
      throw new SampleError(`has ${raw.length} bytes, which no number of ${datatype} fills`);
    }
    const own = decideShape(shape, [count], input);
    return { name, datatype, shape: own, raw };
  }
  if (data === undefined) throw new SampleError('has no data');
  if (datatype !== 'BYTES' && isObject(data) && 'b64' in data) {
    throw new SampleError('"b64" is not base64');
  }
  const nested = nestedElements(data);
  if (nested === undefined) throw new SampleError('has arrays of different lengths at one depth');
  const own = decideShape(shape, nested.shape, input);
  return { name, datatype, shape: own, raw: encodeElements(datatype, nested.elements) };
}

/**
 * Shape of the sample: the declared one; otherwise that of the arrays; otherwise, for a flat array
 * that fits, the model's.
 * @param nested Lengths of the arrays; their product is the number of elements.
 */
function decideShape(
  said: readonly number[] | undefined,
  nested: readonly number[],
  input: WantedTensor,
): readonly number[] {
  const count = elementCount(nested);
  const wanted = shapeText(input.shape);
  const { shapeHint: hint = '' } = input;
  if (said !== undefined) {
    if (elementCount(said) !== count) {
      throw new SampleError(
        `has ${count} elements; its shape ${shapeText(said)} needs ${elementCount(said)}`,
      );
    }
    const own = fitShape(said, input);
    if (own !== undefined) return own;
    throw new SampleError(
      `has the shape ${shapeText(said)}; a sample of the model has ${wanted}${hint}`,
    );
  }
  const own = fitShape(nested, input);
  if (own !== undefined) return own;
  const isFilled = !input.shape.includes(-1) && elementCount(input.shape) === count;
  if (nested.length <= 1 && isFilled) return input.shape;
  if (nested.length <= 1 && !input.shape.includes(-1)) {
    throw new SampleError(
      `has ${count} elements in a row; a sample of the model, ${wanted}, needs ${elementCount(input.shape)}${hint}`,
    );
  }
  throw new SampleError(
    `has the shape ${shapeText(nested)}; a sample of the model has ${wanted}${hint}`,
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deepest nesting; more than any tensor's. */
const RANK_MAX = 32;

/**
 * Elements of nested arrays in row-major order, and the array lengths from the outermost on.
 * @returns undefined if arrays at the same depth have different lengths.
 */
function nestedElements(value: unknown) {
  const shape: number[] = [];
  let elements: readonly unknown[] = [value];
  while (elements.length > 0 && elements.some(Array.isArray)) {
    const [first] = elements;
    if (!Array.isArray(first) || shape.length === RANK_MAX) return undefined;
    const { length } = first;
    if (!elements.every((one) => Array.isArray(one) && one.length === length)) return undefined;
    shape.push(length);
    elements = (elements as readonly unknown[][]).flat(1);
  }
  return { shape, elements };
}
