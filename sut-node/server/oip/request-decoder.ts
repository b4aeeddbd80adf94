import { isUtf8 } from 'node:buffer';
import { NO_BYTES } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { type Halves, readVarint } from '../../../shared/wire/oip/typed-integers.ts';
import { malformed, ProtoReader } from '../../../shared/wire/proto-wire.ts';

/**
 * Decoder of `ModelInferRequest`: contents stay views into the message, and the memory that a small
 * message can cost is bounded. Field numbers are those of proto/inference/open_inference.proto. The
 * decoder reads only the parameters that ask for another answer.
 */

/** A request as it was sent; contents are views of the message. */
export interface InferRequest {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly id: string;
  readonly inputs: readonly RequestInput[];
  /** Requested outputs; empty: all outputs. */
  readonly outputs: readonly RequestedOutput[];
  readonly rawContents: readonly Uint8Array[];
}

/** A tensor of a request. */
export interface RequestInput {
  readonly name: string;
  readonly datatype: string;
  /** Lengths of the axes, not yet checked: a length may be negative or too large. */
  readonly shape: readonly number[];
  /** Encoded InferTensorContents; empty where there are none. */
  readonly contents: Uint8Array;
}

/** An output that is requested by name. */
export interface RequestedOutput {
  readonly name: string;
  /** A parameter that asks for something else than the tensor in the response. */
  readonly refusedParameter: string | undefined;
}

/**
 * Limit each for inputs, outputs and raw contents of a request, and for pieces of contents: larger
 * than any model needs.
 */
const TENSORS_MAX = 256;

/** Axes of a tensor. */
const AXES_MAX = 32;

const REQUEST = {
  modelName: (1 << 3) | 2,
  modelVersion: (2 << 3) | 2,
  id: (3 << 3) | 2,
  inputs: (5 << 3) | 2,
  outputs: (6 << 3) | 2,
  rawContents: (7 << 3) | 2,
} as const;

const INPUT = {
  name: (1 << 3) | 2,
  datatype: (2 << 3) | 2,
  shape: 3 << 3,
  shapePacked: (3 << 3) | 2,
  contents: (5 << 3) | 2,
} as const;

const OUTPUT = { name: (1 << 3) | 2, parameters: (2 << 3) | 2 } as const;
const ENTRY_KEY = (1 << 3) | 2;

/** Parameters of an output that ask for something else than its tensor in the response. */
const REFUSED_PARAMETERS: readonly string[] = ['classification', 'shared_memory_region'];

/**
 * Decodes a request. Contents are views into `message`.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` for malformed bytes, and for too many tensors or axes.
 */
export function decodeInferRequest(message: Uint8Array): InferRequest {
  const reader = new ProtoReader(message);
  let modelName = '';
  let modelVersion = '';
  let id = '';
  const inputs: RequestInput[] = [];
  const outputs: RequestedOutput[] = [];
  const rawContents: Uint8Array[] = [];
  while (reader.position < reader.end) {
    const tag = reader.varint();
    switch (tag) {
      case REQUEST.modelName:
        modelName = textOf(reader);
        break;
      case REQUEST.modelVersion:
        modelVersion = textOf(reader);
        break;
      case REQUEST.id:
        id = textOf(reader);
        break;
      case REQUEST.inputs:
        checkCount('inputs', inputs);
        inputs.push(decodeInput(reader.bytes()));
        break;
      case REQUEST.outputs:
        checkCount('outputs', outputs);
        outputs.push(decodeOutput(reader.message()));
        break;
      case REQUEST.rawContents:
        checkCount('raw_input_contents', rawContents);
        rawContents.push(reader.bytes());
        break;
      default:
        reader.skipField(tag);
    }
  }
  return { modelName, modelVersion, id, inputs, outputs, rawContents };
}

function checkCount(what: string, list: readonly unknown[]): void {
  if (list.length < TENSORS_MAX) return;
  throw malformed(`more than ${TENSORS_MAX} ${what}`);
}

function decodeInput(bytes: Uint8Array): RequestInput {
  const reader = new ProtoReader(bytes);
  let name = '';
  let datatype = '';
  const contents: Uint8Array[] = [];
  const shape: number[] = [];
  while (reader.position < reader.end) {
    const tag = reader.varint();
    switch (tag) {
      case INPUT.name:
        name = textOf(reader);
        break;
      case INPUT.datatype:
        datatype = textOf(reader);
        break;
      case INPUT.shape: {
        const begin = reader.position;
        reader.skip(0);
        readAxes(bytes.subarray(begin, reader.position), shape);
        break;
      }
      case INPUT.shapePacked:
        readAxes(reader.bytes(), shape);
        break;
      case INPUT.contents: {
        const piece = reader.bytes();
        if (piece.length === 0) break;
        checkCount('pieces of contents of one input', contents);
        contents.push(piece);
        break;
      }
      default:
        reader.skipField(tag);
    }
  }
  return { name, datatype, shape, contents: joined(contents) };
}

/** Joins several messages of one field, as protobuf requires. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length > 1 ? Buffer.concat(pieces) : (pieces[0] ?? NO_BYTES);
}

/** Appends signed 64-bit numbers; beyond 2^53 they become the nearest JavaScript number. */
function readAxes(run: Uint8Array, into: number[]): void {
  if (run.length > 0 && (run[run.length - 1] as number) >= 0x80) {
    throw malformed('a number is cut off');
  }
  const halves: Halves = { low: 0, high: 0 };
  let position = 0;
  while (position < run.length) {
    if (into.length >= AXES_MAX) throw malformed(`a shape has more than ${AXES_MAX} axes`);
    position = readVarint(run, position, halves);
    into.push(halves.high * 2 ** 32 + (halves.low >>> 0));
  }
}

/**
 * Reads a text strictly: an id must come back unchanged, so invalid UTF-8 is refused and not
 * replaced.
 */
function textOf(reader: ProtoReader): string {
  const bytes = reader.bytes();
  if (!isUtf8(bytes)) throw malformed('a text is not UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

function decodeOutput(reader: ProtoReader) {
  let name = '';
  /** A parameter that would change the response, and that the node does not know. */
  let refusedParameter: string | undefined;
  while (reader.position < reader.end) {
    const tag = reader.varint();
    if (tag === OUTPUT.name) name = textOf(reader);
    else if (tag === OUTPUT.parameters) refusedParameter ??= refusedKey(reader.message());
    else reader.skipField(tag);
  }
  return { name, refusedParameter };
}

/** Key of an entry of a map of parameters, where it is one of {@link REFUSED_PARAMETERS}. */
function refusedKey(entry: ProtoReader): string | undefined {
  let key = '';
  while (entry.position < entry.end) {
    const tag = entry.varint();
    if (tag === ENTRY_KEY) key = textOf(entry);
    else entry.skipField(tag);
  }
  return REFUSED_PARAMETERS.includes(key) ? key : undefined;
}
