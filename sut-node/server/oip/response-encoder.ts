import { status } from '@grpc/grpc-js';
import {
  elementCount,
  OIP_ELEMENT_BYTES,
  type OipDataType,
  type OipTensor,
} from '../../../shared/domain/tensors.ts';
import {
  bytesFieldSize,
  fieldSize,
  ProtoWriter,
  varintSize,
} from '../../../shared/wire/proto-wire.ts';
import { failedPrecondition, StreamRefusal } from '../limits/call-end.ts';
import type { OipModel } from './oip-model.ts';

/**
 * Encoder of `ModelInferResponse` and `ModelStreamInferResponse`, with one allocation and one copy
 * of the answers. Field numbers are those of proto/inference/open_inference.proto.
 */

/** An output of a response. */
interface ResponseOutput {
  readonly name: string;
  readonly datatype: OipDataType;
  readonly shape: readonly number[];
  /** Raw contents of the samples, one after the other. */
  readonly rows: readonly Uint8Array[];
}

/** A response to be encoded. */
export interface InferResponse {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly id: string;
  /** Whether this is the last response to the request; undefined: not marked. */
  readonly isFinal: boolean | undefined;
  /** Output tokens, of a model that has tokens. */
  readonly tokenCount: number | undefined;
  readonly outputs: readonly ResponseOutput[];
}

/** Parameter that marks the last response to a request. Source: Triton, decoupled models. */
const FINAL_RESPONSE = Buffer.from('triton_final_response');
const TOKEN_COUNT = Buffer.from('token_count');

const MODEL_NAME = (1 << 3) | 2;
const MODEL_VERSION = (2 << 3) | 2;
const ID = (3 << 3) | 2;
const PARAMETERS = (4 << 3) | 2;
const OUTPUTS = (5 << 3) | 2;
const RAW_CONTENTS = (6 << 3) | 2;

const OUTPUT_NAME = (1 << 3) | 2;
const OUTPUT_DATATYPE = (2 << 3) | 2;
const OUTPUT_SHAPE = (3 << 3) | 2;

const ENTRY_KEY = (1 << 3) | 2;
const ENTRY_VALUE = (2 << 3) | 2;
const BOOL_PARAM = 1 << 3;
const INT64_PARAM = 2 << 3;

const STREAM_ERROR = (1 << 3) | 2;
const STREAM_RESPONSE = (2 << 3) | 2;

const NAMES = new Map<string, Buffer>();
const NAMES_MAX = 1_000;

/** Encodes a ModelInferResponse. */
export function encodeInferResponse(response: InferResponse): Buffer {
  const sizes = measure(response);
  const writer = new ProtoWriter(Buffer.allocUnsafe(sizes.bytes));
  write(writer, response, sizes);
  return writer.buffer;
}

/** Encodes a ModelStreamInferResponse that holds a response. */
export function encodeStreamResponse(response: InferResponse): Buffer {
  const sizes = measure(response);
  const writer = new ProtoWriter(Buffer.allocUnsafe(fieldSize(sizes.bytes)));
  writer.head(STREAM_RESPONSE, sizes.bytes);
  write(writer, response, sizes);
  return writer.buffer;
}

/** Encodes a ModelStreamInferResponse that says why a request has no answer. */
export function encodeStreamError(id: string, message: string): Buffer {
  const text = Buffer.from(message);
  const name = Buffer.from(id);
  const inner = bytesFieldSize(name.length);
  const writer = new ProtoWriter(Buffer.allocUnsafe(fieldSize(text.length) + fieldSize(inner)));
  writer.head(STREAM_ERROR, text.length);
  append(writer, text);
  writer.head(STREAM_RESPONSE, inner);
  writer.bytes(ID, name);
  return writer.buffer;
}

/** Names of a model and its tensors are the same in every response. */
function encodedName(name: string): Buffer {
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  const bytes = Buffer.from(name);
  if (NAMES.size < NAMES_MAX) NAMES.set(name, bytes);
  return bytes;
}

/** Lengths and encoded texts of a response, before it is written. */
function measure(response: InferResponse) {
  const texts = [
    [MODEL_NAME, encodedName(response.modelName)],
    [MODEL_VERSION, encodedName(response.modelVersion)],
    [ID, Buffer.from(response.id)],
  ] as const;
  const parameters = parametersOf(response);
  const outputs = response.outputs.map(measureOutput);
  let bytes = 0;
  for (const [, text] of texts) bytes += bytesFieldSize(text.length);
  for (const entry of parameters) bytes += fieldSize(entry.length);
  for (const { headBytes, rawBytes } of outputs)
    bytes += fieldSize(headBytes) + fieldSize(rawBytes);
  return { texts, parameters, outputs, bytes };
}

/** Lengths and encoded texts of an output, before it is written. */
function measureOutput({ name, datatype, shape, rows }: ResponseOutput) {
  const nameText = encodedName(name);
  const datatypeText = encodedName(datatype);
  const shapeBytes = shape.reduce((sum, length) => sum + varintSize(length), 0);
  const headBytes =
    bytesFieldSize(nameText.length) +
    bytesFieldSize(datatypeText.length) +
    bytesFieldSize(shapeBytes);
  const rawBytes = rows.reduce((sum, { length }) => sum + length, 0);
  return { name: nameText, datatype: datatypeText, shapeBytes, headBytes, rawBytes };
}

function write(
  writer: ProtoWriter,
  { outputs }: InferResponse,
  sizes: ReturnType<typeof measure>,
): void {
  for (const [tag, text] of sizes.texts) writer.bytes(tag, text);
  for (const entry of sizes.parameters) writer.bytes(PARAMETERS, entry);
  for (const [i, { shape }] of outputs.entries()) {
    // One per output.
    const { name, datatype, shapeBytes, headBytes } = sizes.outputs[i] as OutputSizes;
    writer.head(OUTPUTS, headBytes);
    writer.bytes(OUTPUT_NAME, name);
    writer.bytes(OUTPUT_DATATYPE, datatype);
    if (shapeBytes > 0) writer.head(OUTPUT_SHAPE, shapeBytes);
    for (const length of shape) writer.varint(length);
  }
  for (const [i, { rows }] of outputs.entries()) {
    // An empty tensor has an entry, too.
    writer.head(RAW_CONTENTS, (sizes.outputs[i] as OutputSizes).rawBytes);
    for (const row of rows) append(writer, row);
  }
}

type OutputSizes = ReturnType<typeof measureOutput>;

function append(writer: ProtoWriter, bytes: Uint8Array): void {
  writer.buffer.set(bytes, writer.position);
  writer.position += bytes.length;
}

/** Entries of the map of parameters. */
function parametersOf({ isFinal, tokenCount }: InferResponse): Buffer[] {
  const entries: Buffer[] = [];
  if (isFinal !== undefined) entries.push(isFinal ? IS_FINAL : IS_NOT_FINAL);
  if (tokenCount !== undefined) entries.push(entry(TOKEN_COUNT, INT64_PARAM, tokenCount));
  return entries;
}

/** A member of a oneof is written even if its value is 0. */
function entry(key: Buffer, tag: number, value: number): Buffer {
  const valueBytes = 1 + varintSize(value);
  const bytes = fieldSize(key.length) + fieldSize(valueBytes);
  const writer = new ProtoWriter(Buffer.allocUnsafe(bytes));
  writer.bytes(ENTRY_KEY, key);
  writer.head(ENTRY_VALUE, valueBytes);
  writer.buffer[writer.position++] = tag;
  writer.varint(value);
  return writer.buffer;
}

const IS_FINAL: Buffer = entry(FINAL_RESPONSE, BOOL_PARAM, 1);
const IS_NOT_FINAL: Buffer = entry(FINAL_RESPONSE, BOOL_PARAM, 0);

/**
 * Cuts the responses of a request's samples into the tensors that are requested.
 * @param payloads Response of each sample: the elements of all outputs, one after the other. At
 *   most one axis is free (see OipModel.refusal), so its length follows from the bytes.
 * @throws StreamRefusal `FAILED_PRECONDITION` where the samples' outputs differ in length, so
 *   that no tensor holds them; `INTERNAL` where a response has not the bytes of its outputs.
 */
export function responseOutputs(
  model: OipModel,
  asked: readonly OipTensor[],
  payloads: readonly Uint8Array[],
): ResponseOutput[] {
  const bytes = payloads[0]?.length ?? 0;
  const other = payloads.find(({ length }) => length !== bytes);
  if (other !== undefined) {
    throw failedPrecondition(
      `the outputs of the samples differ in length (${bytes} and ${other.length} bytes), so they do not form one tensor: ` +
        'send such samples in separate requests',
    );
  }
  const places = placesOf(model.outputs, bytes);
  return asked.map((output): ResponseOutput => {
    const {
      begin,
      bytes: length,
      shape,
    } = places[model.outputs.indexOf(output)] as ReturnType<typeof placesOf>[number];
    const rows =
      length === bytes ? payloads : payloads.map((one) => one.subarray(begin, begin + length));
    const batch = model.hasBatchAxis ? [payloads.length] : [];
    return { name: output.name, datatype: output.datatype, shape: [...batch, ...shape], rows };
  });
}

/** Begin, byte count and shape of each output in the response of one sample. */
function placesOf(outputs: readonly OipTensor[], bytes: number) {
  const fixedBytes = outputs.map(({ datatype, shape }) =>
    shape.includes(-1) ? 0 : OIP_ELEMENT_BYTES[datatype] * elementCount(shape),
  );
  const rest = bytes - fixedBytes.reduce((sum, one) => sum + one, 0);
  let position = 0;
  return outputs.map((output, i) => {
    const isFree = output.shape.includes(-1);
    const length = isFree ? rest : (fixedBytes[i] as number);
    const shape = isFree ? withLength(output, rest, bytes) : output.shape;
    if (rest < 0 || (rest > 0 && !outputs.some((one) => one.shape.includes(-1)))) {
      throw wrongBytes(output, bytes);
    }
    const place = { begin: position, bytes: length, shape };
    position += length;
    return place;
  });
}

/** The shape with the length of its free axis, which follows from its bytes. */
function withLength(output: OipTensor, bytes: number, all: number): readonly number[] {
  const { datatype, shape } = output;
  const step = OIP_ELEMENT_BYTES[datatype] * elementCount(shape.filter((length) => length >= 0));
  const length = step === 0 ? 0 : bytes / step;
  if (bytes < 0 || !Number.isInteger(length)) throw wrongBytes(output, all);
  return shape.map((one) => (one === -1 ? length : one));
}

function wrongBytes({ name, datatype, shape }: OipTensor, bytes: number): StreamRefusal {
  return new StreamRefusal(
    status.INTERNAL,
    `the response of the model has ${bytes} bytes, which do not fit output "${name}" of ${datatype} [${shape.join(', ')}]`,
  );
}
