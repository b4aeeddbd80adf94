import type { OipDataType } from '../../../shared/domain/data-types.ts';
import {
  bytesFieldSize,
  fieldSize,
  ProtoWriter,
  varintSize,
} from '../../../shared/wire/proto-writer.ts';

/**
 * `ModelInferResponse` and `ModelStreamInferResponse` by hand: one allocation, one copy of the answers. Numbers as in
 * proto/inference/open_inference.proto.
 */

/** An output of a response. */
export interface ResponseOutput {
  readonly name: string;
  readonly datatype: OipDataType;
  readonly shape: readonly number[];
  /** Raw contents: those of the samples, one behind the other. */
  readonly rows: readonly Uint8Array[];
}

/** A response to be encoded. */
export interface InferResponse {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly id: string;
  /** Whether no other response to the request follows; undefined: not said. */
  readonly isFinal: boolean | undefined;
  /** Output tokens, of a model that has tokens. */
  readonly tokenCount: number | undefined;
  readonly outputs: readonly ResponseOutput[];
}

/** Tells the last of a request's responses. Source: Triton, decoupled models. */
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

/** What is known of an output before it is written. */
interface OutputSizes {
  readonly name: Buffer;
  readonly datatype: Buffer;
  readonly shapeBytes: number;
  readonly headBytes: number;
  readonly rawBytes: number;
}

/** What is known of a response before it is written. */
interface ResponseSizes {
  readonly texts: readonly (readonly [tag: number, text: Buffer])[];
  readonly parameters: readonly Buffer[];
  readonly outputs: readonly OutputSizes[];
  readonly bytes: number;
}

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

function measure(response: InferResponse): ResponseSizes {
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

function measureOutput({ name, datatype, shape, rows }: ResponseOutput): OutputSizes {
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

function write(writer: ProtoWriter, { outputs }: InferResponse, sizes: ResponseSizes): void {
  for (const [tag, text] of sizes.texts) writer.bytes(tag, text);
  for (const entry of sizes.parameters) writer.bytes(PARAMETERS, entry);
  for (const [i, { shape }] of outputs.entries()) {
    const { name, datatype, shapeBytes, headBytes } = sizes.outputs[i] as OutputSizes;
    writer.head(OUTPUTS, headBytes);
    writer.bytes(OUTPUT_NAME, name);
    writer.bytes(OUTPUT_DATATYPE, datatype);
    if (shapeBytes > 0) writer.head(OUTPUT_SHAPE, shapeBytes);
    for (const length of shape) writer.varint(length);
  }
  for (const [i, { rows }] of outputs.entries()) {
    // An empty tensor has its place, too.
    writer.head(RAW_CONTENTS, (sizes.outputs[i] as OutputSizes).rawBytes);
    for (const row of rows) append(writer, row);
  }
}

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

/** A member of a oneof is written even where it is 0. */
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
