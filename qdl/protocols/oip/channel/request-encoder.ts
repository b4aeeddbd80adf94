import assert from 'node:assert';
import type { OipPlannedInput, OipRequestPlan } from '../../../../shared/wire/oip/request-plan.ts';
import { fieldSize, ProtoWriter, varintSize } from '../../../../shared/wire/proto-wire.ts';

/** Largest payload of a request, bytes: a protobuf message is below 2 GiB, including its header. */
export const REQUEST_BYTES_MAX: number = 2 ** 31 - 2 ** 20;

/**
 * Request parameter that makes Triton mark the last response of a decoupled model, if need be with
 * an empty response.
 */
const WANTS_FINAL_MARK = 'triton_enable_empty_final_response';

/** An outgoing message, in consecutive pieces. */
export interface EncodedRequest {
  readonly pieces: readonly Uint8Array[];
  /** Total bytes. */
  readonly bytes: number;
}

/** Request fields that the plan lacks. */
export interface RequestExtras {
  /** Names of requested outputs; empty: the server sends all. */
  readonly requestedOutputs: readonly string[];
  /** Request a mark on the last response: for a decoupled model. */
  readonly wantsFinalMark: boolean;
}

// Tags of ModelInferRequest and its submessages: (field << 3) | 2, all length-delimited.
const MODEL_NAME = (1 << 3) | 2;
const MODEL_VERSION = (2 << 3) | 2;
const ID = (3 << 3) | 2;
const PARAMETERS = (4 << 3) | 2;
const INPUTS = (5 << 3) | 2;
const OUTPUTS = (6 << 3) | 2;
const RAW_INPUT_CONTENTS = (7 << 3) | 2;
const TENSOR = { name: (1 << 3) | 2, datatype: (2 << 3) | 2, shape: (3 << 3) | 2 } as const;
const ENTRY = { key: (1 << 3) | 2, value: (2 << 3) | 2 } as const;
const BOOL_PARAM = 1 << 3;

/**
 * Payloads up to this size are copied after their header. The connection copies small pieces into
 * its frames; larger pieces would be copied twice.
 */
const COPIED_BYTES_MAX = 512;

/**
 * Encodes ModelInferRequests by hand: constant fields are encoded once, before the first query;
 * only the id and the payload's position vary. Large payloads are never copied.
 */
export class OipRequestEncoder {
  readonly #plan: OipRequestPlan;
  /** By number of samples. */
  readonly #layouts: (Layout | undefined)[] = [];
  /** Offset of each input in the payload of one sample. */
  readonly #inputBegins: readonly number[];
  readonly #sampleBytes: number;

  constructor(plan: OipRequestPlan, extras: RequestExtras) {
    this.#plan = plan;
    let begin = 0;
    this.#inputBegins = plan.inputs.map(({ sampleBytes }) => {
      begin += sampleBytes;
      return begin - sampleBytes;
    });
    this.#sampleBytes = begin;
    for (let count = 1; count <= plan.samplesPerRequest; count += 1) {
      this.#layouts[count] = layoutOf(plan, extras, count);
    }
  }

  /**
   * The request for these samples of one query. Hot path.
   * @param id Below 2^53; sent in decimal.
   * @param payloads 1 to `samplesPerRequest`, in the form of the plan; read only when the pieces
   * are.
   */
  encode(id: number, payloads: readonly Uint8Array[]): EncodedRequest {
    const layout = this.#layouts[payloads.length];
    assert(layout !== undefined, 'more samples than the plan allows in a request');
    let payloadBytes = 0;
    for (let i = 0; i < payloads.length; i += 1) payloadBytes += (payloads[i] as Uint8Array).length;
    if (this.#plan.payloadForm === 'tensors') {
      // The sample library made the plan's sizes; others would falsify the encoded lengths.
      assert.equal(payloadBytes, payloads.length * this.#sampleBytes, 'payload of another size');
    }
    const digits = digitCount(id);
    const bytes = layout.headBytes + 2 + digits + payloadBytes;
    if (payloadBytes <= COPIED_BYTES_MAX) {
      return { pieces: [this.#joined({ layout, id, digits, bytes }, payloads)], bytes };
    }
    return { pieces: this.#gathered({ layout, id, digits }, payloads), bytes };
  }

  /** Everything in one buffer. */
  #joined(
    { layout, id, digits, bytes }: { layout: Layout; id: number; digits: number; bytes: number },
    payloads: readonly Uint8Array[],
  ): Buffer {
    const target = Buffer.allocUnsafe(bytes);
    let position = put(target, layout.head, 0);
    position = putId(target, position, id, digits);
    if (this.#plan.payloadForm === 'fields') {
      put(target, payloads[0] as Uint8Array, position);
      return target;
    }
    for (let k = 0; k < layout.rawHeads.length; k += 1) {
      position = put(target, layout.rawHeads[k] as Buffer, position);
      for (let i = 0; i < payloads.length; i += 1) {
        position = put(target, this.#inputOf(payloads[i] as Uint8Array, k), position);
      }
    }
    return target;
  }

  /** Header, id and first lengths in one buffer; payloads uncopied. */
  #gathered(
    { layout, id, digits }: { layout: Layout; id: number; digits: number },
    payloads: readonly Uint8Array[],
  ): Uint8Array[] {
    const { head, rawHeads } = layout;
    const first = rawHeads[0];
    const begin = Buffer.allocUnsafe(head.length + 2 + digits + (first?.length ?? 0));
    const position = putId(begin, put(begin, head, 0), id, digits);
    if (first === undefined) return [begin, payloads[0] as Uint8Array];
    put(begin, first, position);
    const pieces: Uint8Array[] = [begin];
    for (let k = 0; k < rawHeads.length; k += 1) {
      if (k > 0) pieces.push(rawHeads[k] as Buffer);
      for (let i = 0; i < payloads.length; i += 1) {
        pieces.push(this.#inputOf(payloads[i] as Uint8Array, k));
      }
    }
    return pieces;
  }

  /** Raw contents of the k-th input in the payload of a sample. */
  #inputOf(payload: Uint8Array, k: number): Uint8Array {
    if (this.#inputBegins.length === 1) return payload;
    const begin = this.#inputBegins[k] as number; // In range: one per input.
    return payload.subarray(begin, begin + (this.#plan.inputs[k] as OipPlannedInput).sampleBytes);
  }
}

/** Constant parts of a request of `count` samples. */
function layoutOf(
  { model, inputs, payloadForm, hasBatchAxis }: OipRequestPlan,
  { requestedOutputs, wantsFinalMark }: RequestExtras,
  count: number,
) {
  /** All fields before the id. */
  const head = Buffer.concat([
    textField(MODEL_NAME, model.name),
    textField(MODEL_VERSION, model.version),
    ...(wantsFinalMark ? [trueParameter(WANTS_FINAL_MARK)] : []),
    ...(payloadForm === 'tensors'
      ? inputs.map((input) => inputField(input, hasBatchAxis ? [count] : []))
      : []),
    ...requestedOutputs.map((name) => field(OUTPUTS, textField(TENSOR.name, name))),
  ]);
  /** Tag and length of the raw contents of each input. */
  const rawHeads =
    payloadForm === 'tensors'
      ? inputs.map(({ sampleBytes }) => fieldHead(RAW_INPUT_CONTENTS, sampleBytes * count))
      : [];
  const headBytes = rawHeads.reduce((sum, { length }) => sum + length, head.length);
  return { head, rawHeads, headBytes };
}

/** @param batch Length of the batch axis, if there is one. */
function inputField({ name, datatype, sampleShape }: OipPlannedInput, batch: number[]): Buffer {
  const shape = [...batch, ...sampleShape];
  const parts = [
    textField(TENSOR.name, name),
    textField(TENSOR.datatype, datatype),
    shape.length === 0 ? Buffer.alloc(0) : field(TENSOR.shape, varints(shape)),
  ];
  return field(INPUTS, Buffer.concat(parts));
}

/** Constant parts of a request of that many samples: see `layoutOf`. */
type Layout = ReturnType<typeof layoutOf>;

function put(target: Buffer, bytes: Uint8Array, position: number): number {
  target.set(bytes, position);
  return position + bytes.length;
}

function putId(target: Buffer, position: number, id: number, digits: number): number {
  target[position] = ID;
  target[position + 1] = digits;
  let rest = id;
  for (let at = position + 1 + digits; at > position + 1; at -= 1) {
    const next = Math.floor(rest / 10);
    target[at] = 48 + (rest - next * 10);
    rest = next;
  }
  return position + 2 + digits;
}

function digitCount(id: number): number {
  let digits = 1;
  for (let bound = 10; id >= bound; bound *= 10) digits += 1;
  return digits;
}

function fieldHead(tag: number, length: number): Buffer {
  const writer = new ProtoWriter(Buffer.alloc(1 + varintSize(length)));
  writer.head(tag, length);
  return writer.buffer;
}

function field(tag: number, bytes: Uint8Array): Buffer {
  const writer = new ProtoWriter(Buffer.alloc(fieldSize(bytes.length)));
  writer.head(tag, bytes.length);
  writer.buffer.set(bytes, writer.position);
  return writer.buffer;
}

/** A string field; no bytes for an empty string, the default of proto3. */
function textField(tag: number, text: string): Buffer {
  return text === '' ? Buffer.alloc(0) : field(tag, Buffer.from(text, 'utf8'));
}

function varints(values: readonly number[]): Buffer {
  const size = values.reduce((sum, value) => sum + varintSize(value), 0);
  const writer = new ProtoWriter(Buffer.alloc(size));
  for (const value of values) writer.varint(value);
  return writer.buffer;
}

function trueParameter(name: string): Buffer {
  const entry = [textField(ENTRY.key, name), field(ENTRY.value, Uint8Array.of(BOOL_PARAM, 1))];
  return field(PARAMETERS, Buffer.concat(entry));
}
