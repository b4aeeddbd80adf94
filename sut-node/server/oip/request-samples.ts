import { MlperfError, wireError } from '../../../shared/base/errors/mlperf-error.ts';
import {
  OIP_ELEMENT_BYTES,
  type OipTensor,
  RAW_ONLY_DATA_TYPES,
} from '../../../shared/domain/tensors.ts';
import {
  decodeTypedContents,
  forEachBytesElement,
} from '../../../shared/wire/oip/typed-contents.ts';
import { invalidArgument } from '../limits/call-end.ts';
import type { InputKind, OipInput, OipModel } from './oip-model.ts';
import type { InferRequest, RequestedOutput, RequestInput } from './request-decoder.ts';

/** A request that the model can work on. */
export interface CheckedRequest {
  readonly id: string;
  readonly samples: readonly RequestSample[];
  /** Bytes of all samples. */
  readonly bytes: number;
  /** The node's number of the samples' encoding. */
  readonly form: number;
  /** In the order of the request. */
  readonly outputs: readonly OipTensor[];
}

interface RequestSample {
  /** The sample's elements of each input, in the order of the model's inputs. */
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;
}

/** An input of the request, matched with one of the model. */
type MatchedInput = ReturnType<typeof matchShape>;

/** Most elements of a tensor: the bytes of more would not fit into any message. */
const ELEMENTS_MAX = 2 ** 40;

/**
 * Checks a request for the node's model and cuts its tensors into samples: views, unless elements
 * came typed.
 * @param sampleBytesMax Largest sample.
 * @param samplesMax Most samples of a request that could ever find room.
 * @throws StreamRefusal `INVALID_ARGUMENT` naming the tensor, the value, and what would be right.
 */
export function requestSamples(
  model: OipModel,
  request: InferRequest,
  { sampleBytesMax, samplesMax }: { readonly sampleBytesMax: number; readonly samplesMax: number },
): CheckedRequest {
  const outputs = askedOutputs(model, request.outputs);
  const matched = matchInputs(model, request);
  const [first] = matched;
  if (first === undefined) throw invalidArgument(`model "${model.name}" has no inputs`);
  checkTogether(model, matched);
  const { count } = first;
  const most = Math.min(samplesMax, model.requestSamplesMax ?? samplesMax);
  if (count > most) {
    throw invalidArgument(
      `input "${first.input.name}" has ${axesInWords([count])} samples; a request may have ${most} here`,
    );
  }
  const sampleBytes = matched.reduce((sum, { kind, elements }) => sum + bytesOf(kind, elements), 0);
  if (sampleBytes > sampleBytesMax) throw tooLarge(sampleBytes, sampleBytesMax);
  const rows = matched.map((one) => rowsOf(one, request.rawContents));
  const samples = Array.from({ length: count }, (_, row) => {
    const pieces = rows.map((ofInput) => ofInput[row] as Uint8Array); // `count` rows of each.
    return { pieces, bytes: pieces.reduce((sum, { length }) => sum + length, 0) };
  });
  let bytes = 0;
  for (const sample of samples) {
    if (sample.bytes > sampleBytesMax) throw tooLarge(sample.bytes, sampleBytesMax);
    bytes += sample.bytes;
  }
  return { id: request.id, samples, bytes, form: first.kind.form, outputs };
}

function askedOutputs(model: OipModel, asked: readonly RequestedOutput[]): readonly OipTensor[] {
  if (asked.length === 0) return model.outputs;
  const names = asked.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw invalidArgument(`output "${twice}" is requested twice`);
  const other = asked.find(({ refusedParameter }) => refusedParameter !== undefined);
  if (other !== undefined) {
    throw invalidArgument(
      `output "${other.name}" has the parameter "${other.refusedParameter}", which this node does not know: ` +
        'outputs come back as they are, in the response',
    );
  }
  return names.map((name) => {
    const output = model.outputs.find((one) => one.name === name);
    if (output !== undefined) return output;
    throw invalidArgument(
      `model "${model.name}" has no output "${name}"; it has: ${model.outputs.map((one) => `"${one.name}"`).join('; ')}`,
    );
  });
}

/** Inputs of the request in the model's order. */
function matchInputs(model: OipModel, request: InferRequest): MatchedInput[] {
  const { inputs, rawContents } = request;
  for (const [i, { name }] of inputs.entries()) {
    if (!model.inputs.some((input) => input.name === name)) {
      const known = model.inputs.map((input) => kindsInWords(model, input)).join('; ');
      throw invalidArgument(`model "${model.name}" has no input "${name}"; it has: ${known}`);
    }
    if (inputs.findIndex((other) => other.name === name) < i) {
      throw invalidArgument(`input "${name}" occurs twice; send each input once`);
    }
  }
  if (rawContents.length > 0 && rawContents.length !== inputs.length) {
    throw invalidArgument(
      `the request has ${inputs.length} inputs and ${rawContents.length} raw_input_contents: send one for each input, in the same order`,
    );
  }
  return model.inputs.map((input) => {
    const place = inputs.findIndex(({ name }) => name === input.name);
    const sent = inputs[place];
    if (sent === undefined) {
      throw invalidArgument(
        `input "${input.name}" is missing: ${kindsInWords(model, input)} is needed`,
      );
    }
    if (rawContents.length > 0 && sent.contents.length > 0) {
      throw invalidArgument(
        `input "${input.name}" has contents, and the request has raw_input_contents: use one of the two for all inputs`,
      );
    }
    return matchShape(model, input, sent, place);
  });
}

function matchShape(model: OipModel, input: OipInput, sent: RequestInput, place: number) {
  const { name, datatype, shape } = sent;
  const kind = input.kinds.find((one) => one.datatype === datatype);
  if (kind === undefined) {
    throw invalidArgument(
      `input "${name}" has the datatype "${datatype}"; it may be ${kindsInWords(model, input)}`,
    );
  }
  const axes = model.hasBatchAxis ? [-1, ...kind.shape] : kind.shape;
  const isLike =
    shape.length === axes.length &&
    shape.every((length, axis) => length >= 0 && (axes[axis] === -1 || axes[axis] === length));
  const count = model.hasBatchAxis ? (shape[0] ?? 0) : 1;
  if (!isLike || count === 0) {
    const why = count === 0 && isLike ? ', and no samples' : '';
    throw invalidArgument(
      `input "${name}" has the shape [${axesInWords(shape)}]${why}; it may be ${kindsInWords(model, input)}`,
    );
  }
  const own = model.hasBatchAxis ? shape.slice(1) : shape;
  const elements = own.reduce((product, length) => product * length, 1);
  if (!(count * elements <= ELEMENTS_MAX)) {
    throw invalidArgument(
      `input "${name}" has the shape [${axesInWords(shape)}], which has more elements than a message can hold`,
    );
  }
  // Samples, and elements of each; `place` is that of the input in the request.
  return { input, kind, sent, place, count, elements };
}

/**
 * Checks all inputs together: one number of samples, and one length of all free axes of a model's
 * inputs.
 */
function checkTogether(model: OipModel, matched: readonly MatchedInput[]): void {
  const [first] = matched;
  const other = matched.find(({ count }) => count !== first?.count);
  if (first !== undefined && other !== undefined) {
    throw invalidArgument(
      `input "${other.input.name}" has ${axesInWords([other.count])} samples, ` +
        `"${first.input.name}" has ${axesInWords([first.count])}: ` +
        'the first axes must have the same length',
    );
  }
  const begin = model.hasBatchAxis ? 1 : 0;
  let length: number | undefined;
  for (const { input, kind, sent } of matched) {
    for (const [axis, planned] of kind.shape.entries()) {
      const found = sent.shape[begin + axis] as number; // As many axes: see matchShape.
      if (planned !== -1) continue;
      if (length !== undefined && found !== length) {
        throw invalidArgument(
          `input "${input.name}" has the shape [${axesInWords(sent.shape)}]: all free axes of the model's inputs must ` +
            `have the same length, and another free axis has the length ${length}`,
        );
      }
      length = found;
    }
  }
}

/** Elements of each sample of an input, as bytes. */
function rowsOf(matched: MatchedInput, rawContents: readonly Uint8Array[]): Uint8Array[] {
  const { input, kind, count, elements } = matched;
  try {
    const raw = rawContents[matched.place] ?? typedAsRaw(matched);
    if (kind.datatype === 'BYTES') return elementsOf(raw, count * elements);
    const bytes = bytesOf(kind, elements);
    if (raw.length !== count * bytes) {
      throw invalidArgument(
        `input "${input.name}" of ${kind.datatype} [${axesInWords(matched.sent.shape)}] has ${count * bytes} bytes; ` +
          `its raw contents have ${raw.length}`,
      );
    }
    return Array.from({ length: count }, (_, i) => raw.subarray(i * bytes, (i + 1) * bytes));
  } catch (error) {
    if (error instanceof MlperfError) {
      throw invalidArgument(`input "${input.name}": ${error.message}`);
    }
    throw error;
  }
}

function typedAsRaw({ input, kind, sent, count, elements }: MatchedInput): Uint8Array {
  if (sent.contents.length === 0 && RAW_ONLY_DATA_TYPES.includes(kind.datatype)) {
    throw invalidArgument(
      `input "${input.name}" has no contents: ${kind.datatype} comes in raw_input_contents`,
    );
  }
  return decodeTypedContents(kind.datatype, sent.contents, count * elements);
}

/** One element is one sample: see BenchmarkRules.sampleTensors. */
function elementsOf(raw: Uint8Array, expected: number): Uint8Array[] {
  const elements: Uint8Array[] = [];
  const count = forEachBytesElement(raw, (element) => {
    if (elements.length < expected) elements.push(element);
  });
  if (count === expected) return elements;
  throw wireError(
    `the shape asks for ${expected} elements of BYTES; the raw contents hold ${count}`,
  );
}

/** Bytes of so many elements; 0 for BYTES, whose lengths are unknown. */
function bytesOf({ datatype }: InputKind, elements: number): number {
  return OIP_ELEMENT_BYTES[datatype] * elements;
}

function kindsInWords({ hasBatchAxis }: OipModel, { name, kinds }: OipInput): string {
  const words = kinds.map(({ datatype, shape }) => {
    const axes = hasBatchAxis ? [-1, ...shape] : shape;
    return `${datatype} [${axes.join(', ')}]`;
  });
  return `"${name}" as ${words.join(' or ')}`;
}

/** A request's axes, as they were sent. Beyond 2^53 the number is not known. */
function axesInWords(shape: readonly number[]): string {
  const words = shape.map((length) => {
    if (Number.isSafeInteger(length)) return `${length}`;
    return length < 0 ? 'below -2^53' : 'above 2^53';
  });
  return words.join(', ');
}

function tooLarge(bytes: number, sampleBytesMax: number): Error {
  return invalidArgument(`a sample has ${bytes} bytes; the node accepts at most ${sampleBytesMax}`);
}
