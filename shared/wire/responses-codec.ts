import { type BorrowedBytes, NO_BYTES } from '../base/bytes/borrowed-bytes.ts';
import { wireError } from '../base/errors/mlperf-error.ts';
import { asSaid } from '../base/text.ts';
import type { ServiceTimes } from '../domain/system-under-test.ts';
import {
  bytesFieldSize,
  fieldSize,
  numberFieldSize,
  ProtoReader,
  ProtoWriter,
  varintSize,
  zigzag,
} from './proto-wire.ts';

/**
 * `SutMessage.responses` by hand: the message that carries every response. Written with one
 * allocation, read without copies. Equal to what protobuf makes of the .proto file.
 */

/** A FirstToken, or Tokens. */
export interface WireTokens<Bytes extends BorrowedBytes = Uint8Array> {
  readonly id: number;
  readonly payload: Bytes;
}

export interface WireCompleted<Bytes extends BorrowedBytes = Uint8Array> {
  readonly id: number;
  /** On receipt a view of the message. */
  readonly payload: Bytes;
  /** Index into Open.response_encodings. */
  readonly encoding: number;
  /** Undefined if the benchmark has no tokens. */
  readonly tokenCount: number | undefined;
  readonly durations: ServiceTimes | undefined;
  readonly offset: number;
  /** 0 for a response sent whole. */
  readonly total: number;
}

export interface WireFailed {
  readonly id: number;
  /** FailureCode of the proto file. */
  readonly code: number;
  readonly text: string;
}

/** Responses that became known together; process them in this order. */
export interface WireResponses<Bytes extends BorrowedBytes = Uint8Array> {
  readonly firstTokens: readonly WireTokens<Bytes>[];
  /** Tokens after the first ones. */
  readonly tokens: readonly WireTokens<Bytes>[];
  readonly completed: readonly WireCompleted<Bytes>[];
  readonly failed: readonly WireFailed[];
}

/** Numbers of FailureCode, by the stable words in logs. */
export const FAILURE_CODES = {
  unspecified: 0,
  'bad-sample': 1,
  inference: 2,
  limit: 3,
  draining: 4,
} as const;

/** Stable word of a FailureCode; `unspecified` for an unknown one (newer peer). */
export function failureWord(code: number): string {
  const entry = Object.entries(FAILURE_CODES).find(([, number]) => number === code);
  return entry === undefined ? 'unspecified' : entry[0];
}

/** A node's reason for a failed sample; its code without a reason. */
export function failureText(code: number, text: string): string {
  return text.trim() === '' ? `gave no reason (code ${code})` : asSaid(text);
}

const SUT_MESSAGE_RESPONSES = (3 << 3) | 2;
/** Tags from here on belong to fields unknown to this version of SutMessage. */
const SUT_MESSAGE_UNKNOWN = 6 << 3;
const RESPONSES = {
  firstTokens: (1 << 3) | 2,
  completed: (2 << 3) | 2,
  failed: (3 << 3) | 2,
  tokens: (4 << 3) | 2,
} as const;
const ID = 1 << 3;
const PAYLOAD = (2 << 3) | 2;
const COMPLETED = {
  encoding: 3 << 3,
  tokenCount: 4 << 3,
  durations: (5 << 3) | 2,
  offset: 6 << 3,
  total: 7 << 3,
} as const;
const FAILED = { code: 2 << 3, text: (3 << 3) | 2 } as const;
const DURATION_FIELDS = [
  'receiveNs',
  'queueNs',
  'batchWaitNs',
  'preprocessNs',
  'computeNs',
  'postprocessNs',
  'sendNs',
] as const satisfies readonly (keyof ServiceTimes)[];

/** True if the message is `responses`: the only SutMessage with its own codec. */
export function isResponses(message: Uint8Array): boolean {
  return message[0] === SUT_MESSAGE_RESPONSES;
}

/** Encodes a SutMessage that holds `responses`. */
export function encodeResponses(responses: WireResponses): Buffer {
  const { firstTokens, tokens, completed, failed } = responses;
  const texts = failed.map((failure) => Buffer.from(failure.text, 'utf8'));
  let size = 0;
  for (const token of firstTokens) size += fieldSize(tokensSize(token));
  for (const told of tokens) size += fieldSize(tokensSize(told));
  for (const sample of completed) size += fieldSize(completedSize(sample));
  failed.forEach((failure, i) => {
    size += fieldSize(failedSize(failure, texts[i] as Buffer));
  });
  const writer = new ProtoWriter(Buffer.allocUnsafe(fieldSize(size)));
  writer.head(SUT_MESSAGE_RESPONSES, size);
  for (const token of firstTokens) writeTokens(writer, RESPONSES.firstTokens, token);
  for (const sample of completed) writeCompleted(writer, sample);
  failed.forEach((failure, i) => {
    const text = texts[i] as Buffer;
    writer.head(RESPONSES.failed, failedSize(failure, text));
    writer.number(ID, failure.id);
    writer.number(FAILED.code, failure.code);
    writer.bytes(FAILED.text, text);
  });
  // In the order of field numbers, as protobuf writes.
  for (const told of tokens) writeTokens(writer, RESPONSES.tokens, told);
  return writer.buffer;
}

function tokensSize({ id, payload }: WireTokens): number {
  return numberFieldSize(id) + bytesFieldSize(payload.length);
}

function writeTokens(writer: ProtoWriter, tag: number, told: WireTokens): void {
  writer.head(tag, tokensSize(told));
  writer.number(ID, told.id);
  writer.bytes(PAYLOAD, told.payload);
}

function failedSize(failure: WireFailed, text: Buffer): number {
  return numberFieldSize(failure.id) + numberFieldSize(failure.code) + bytesFieldSize(text.length);
}

function completedSize(sample: WireCompleted): number {
  const { tokenCount, durations } = sample;
  return (
    numberFieldSize(sample.id) +
    bytesFieldSize(sample.payload.length) +
    numberFieldSize(sample.encoding) +
    // An optional field is written if set, even if 0.
    (tokenCount === undefined ? 0 : 1 + varintSize(zigzag(tokenCount))) +
    (durations === undefined ? 0 : fieldSize(durationsSize(durations))) +
    numberFieldSize(sample.offset) +
    numberFieldSize(sample.total)
  );
}

function durationsSize(durations: ServiceTimes): number {
  let size = 0;
  for (const field of DURATION_FIELDS) size += numberFieldSize(durations[field]);
  return size;
}

function writeCompleted(writer: ProtoWriter, sample: WireCompleted): void {
  const { tokenCount, durations } = sample;
  writer.head(RESPONSES.completed, completedSize(sample));
  writer.number(ID, sample.id);
  writer.bytes(PAYLOAD, sample.payload);
  writer.number(COMPLETED.encoding, sample.encoding);
  if (tokenCount !== undefined) writer.head(COMPLETED.tokenCount, zigzag(tokenCount));
  if (durations !== undefined) {
    writer.head(COMPLETED.durations, durationsSize(durations));
    for (let i = 0; i < DURATION_FIELDS.length; i += 1) {
      writer.number((i + 1) << 3, durations[DURATION_FIELDS[i] as keyof ServiceTimes]);
    }
  }
  writer.number(COMPLETED.offset, sample.offset);
  writer.number(COMPLETED.total, sample.total);
}

/**
 * Decodes a SutMessage for which {@link isResponses} holds. Payloads are views of `message`.
 * @throws MlperfError `ERR_WIRE_PROTOCOL`
 */
export function decodeResponses(message: Uint8Array): WireResponses {
  const outer = new ProtoReader(message, 1);
  const reader = outer.message();
  while (outer.position < outer.end) {
    const tag = outer.varint();
    // Unknown fields of a newer version may follow, but no other field of SutMessage.
    if (tag < SUT_MESSAGE_UNKNOWN) {
      throw wireError('malformed message: more than one message in one');
    }
    outer.skip(tag % 8);
  }
  const firstTokens: WireTokens[] = [];
  const tokens: WireTokens[] = [];
  const completed: WireCompleted[] = [];
  const failed: WireFailed[] = [];
  while (reader.position < reader.end) {
    const tag = reader.varint();
    if (tag === RESPONSES.completed) completed.push(decodeCompleted(reader.message()));
    else if (tag === RESPONSES.tokens) tokens.push(decodeTokens(reader.message()));
    else if (tag === RESPONSES.firstTokens) firstTokens.push(decodeTokens(reader.message()));
    else if (tag === RESPONSES.failed) failed.push(decodeFailed(reader.message()));
    else reader.skip(tag % 8);
  }
  return { firstTokens, tokens, completed, failed };
}

function decodeTokens(reader: ProtoReader): WireTokens {
  let id = 0;
  let payload = NO_BYTES;
  while (reader.position < reader.end) {
    const tag = reader.varint();
    if (tag === ID) id = reader.varint();
    else if (tag === PAYLOAD) payload = reader.bytes();
    else reader.skip(tag % 8);
  }
  return { id, payload };
}

function decodeFailed(reader: ProtoReader): WireFailed {
  let id = 0;
  let code = 0;
  let text = '';
  while (reader.position < reader.end) {
    const tag = reader.varint();
    if (tag === ID) id = reader.varint();
    else if (tag === FAILED.code) code = reader.varint();
    else if (tag === FAILED.text) text = reader.string();
    else reader.skip(tag % 8);
  }
  return { id, code, text };
}

function decodeCompleted(reader: ProtoReader): WireCompleted {
  let id = 0;
  let payload = NO_BYTES;
  let encoding = 0;
  let tokenCount: number | undefined;
  let durations: ServiceTimes | undefined;
  let offset = 0;
  let total = 0;
  while (reader.position < reader.end) {
    const tag = reader.varint();
    switch (tag) {
      case ID:
        id = reader.varint();
        break;
      case PAYLOAD:
        payload = reader.bytes();
        break;
      case COMPLETED.encoding:
        encoding = reader.varint();
        break;
      case COMPLETED.tokenCount:
        tokenCount = reader.zigzag();
        break;
      case COMPLETED.durations:
        durations = decodeDurations(reader.message());
        break;
      case COMPLETED.offset:
        offset = reader.varint();
        break;
      case COMPLETED.total:
        total = reader.varint();
        break;
      default:
        reader.skip(tag % 8);
    }
  }
  return { id, payload, encoding, tokenCount, durations, offset, total };
}

function decodeDurations(reader: ProtoReader): ServiceTimes {
  const durations = {
    receiveNs: 0,
    queueNs: 0,
    batchWaitNs: 0,
    preprocessNs: 0,
    computeNs: 0,
    postprocessNs: 0,
    sendNs: 0,
  };
  while (reader.position < reader.end) {
    const tag = reader.varint();
    const field = tag % 8 === 0 ? DURATION_FIELDS[(tag >> 3) - 1] : undefined;
    if (field === undefined) reader.skip(tag % 8);
    else durations[field] = reader.varint();
  }
  return durations;
}
