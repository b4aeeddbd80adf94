import { NO_BYTES } from '../base/bytes/borrowed-bytes.ts';
import {
  bytesFieldSize,
  fieldSize,
  malformed,
  numberFieldSize,
  ProtoReader,
  ProtoWriter,
} from './proto-wire.ts';

/**
 * `LoadGenMessage.part` by hand: the message that carries every query, so it is written with one
 * copy of the payload, or none, and read without any copy. Equal (but for the order of fields of
 * large payloads in {@link writePartMessage}) to what protobuf makes of
 * proto/mlperf/network/v1/sut.proto (test/unit/shared/wire).
 */

/** One sample, or a piece of one, as it is written; absent numbers are 0. */
export interface SampleToWrite {
  readonly id: number;
  /** On receipt a view of the message. */
  readonly payload: Uint8Array;
  /** Index into Open.encodings. */
  readonly encoding?: number;
  /** Offset of this piece in the whole payload. */
  readonly offset?: number;
  /** Length of the whole payload; 0 for a sample sent whole. */
  readonly total?: number;
}

/** A sample as decoded. */
export type PartSample = Required<SampleToWrite>;

/** Samples of exactly one query. */
export interface WirePart<Sample extends SampleToWrite = PartSample> {
  readonly query: number;
  readonly querySampleCount: number;
  readonly samples: readonly Sample[];
  /** See proto: query-level compression. Absent without it. */
  readonly queryPayload?: Uint8Array;
  readonly queryEncoding?: number;
  readonly querySampleBytes?: readonly number[];
}

/** A part to encode. */
export type PartToWrite = WirePart<SampleToWrite>;

const LOADGEN_MESSAGE_PART = (2 << 3) | 2;

/** True if the message is a part: the only LoadGenMessage with its own codec. */
export function isPart(message: Uint8Array): boolean {
  return message[0] === LOADGEN_MESSAGE_PART;
}

/** Encoded bytes of a LoadGenMessage that holds `part`. */
export function partMessageSize(part: PartToWrite): number {
  return fieldSize(partSize(part));
}

/** Callback for large payloads that are not copied. */
export interface LargePayloads {
  /** Smallest size of a large payload, bytes. */
  readonly largeMin: number;
  /** Called with each large payload and its position in the message. */
  readonly onLarge: (position: number, payload: Uint8Array) => void;
}

/**
 * Writes a LoadGenMessage that holds `part` into `buffer` from `position` on.
 * @param around Leaves large payloads out: each belongs before the bytes that follow it. It is then
 * the last field of its sample, which every protobuf reader accepts.
 * @returns The position after the written bytes: {@link partMessageSize} further if nothing was
 * left out.
 */
export function writePartMessage(
  part: PartToWrite,
  buffer: Buffer,
  position: number,
  around?: LargePayloads,
): number {
  const { samples, queryPayload, queryEncoding = 0, querySampleBytes = [] } = part;
  const writer = new ProtoWriter(buffer, position);
  writer.head(LOADGEN_MESSAGE_PART, partSize(part));
  writer.number(PART.query, part.query);
  writer.number(PART.querySampleCount, part.querySampleCount);
  for (const sample of samples) writeSample(writer, sample, around);
  if (queryPayload !== undefined) writer.bytes(PART.queryPayload, queryPayload);
  writer.number(PART.queryEncoding, queryEncoding);
  for (const bytes of querySampleBytes) writer.head(PART.querySampleBytes, bytes);
  return writer.position;
}

/** Encodes a LoadGenMessage that holds `part`. */
export function encodePart(part: PartToWrite): Buffer {
  const buffer = Buffer.allocUnsafe(partMessageSize(part));
  writePartMessage(part, buffer, 0);
  return buffer;
}

function partSize(part: PartToWrite): number {
  const { samples, queryPayload, queryEncoding = 0, querySampleBytes } = part;
  let size = numberFieldSize(part.query) + numberFieldSize(part.querySampleCount);
  for (const sample of samples) size += fieldSize(sampleSize(sample));
  if (queryPayload !== undefined) size += bytesFieldSize(queryPayload.length);
  size += numberFieldSize(queryEncoding);
  if (querySampleBytes === undefined) return size;
  // Unpacked form: readers must accept both, and this one is never hot.
  for (const bytes of querySampleBytes) size += 1 + Math.max(numberFieldSize(bytes) - 1, 1);
  return size;
}

function sampleSize({ id, payload, encoding = 0, offset = 0, total = 0 }: SampleToWrite): number {
  return (
    numberFieldSize(id) +
    bytesFieldSize(payload.length) +
    numberFieldSize(encoding) +
    numberFieldSize(offset) +
    numberFieldSize(total)
  );
}

function writeSample(writer: ProtoWriter, sample: SampleToWrite, around?: LargePayloads): void {
  const { payload, encoding = 0, offset = 0, total = 0 } = sample;
  const isLarge = around !== undefined && payload.length >= around.largeMin;
  writer.head(PART.samples, sampleSize(sample));
  writer.number(SAMPLE.id, sample.id);
  if (!isLarge) writer.bytes(SAMPLE.payload, payload);
  writer.number(SAMPLE.encoding, encoding);
  writer.number(SAMPLE.offset, offset);
  writer.number(SAMPLE.total, total);
  if (!isLarge) return;
  writer.head(SAMPLE.payload, payload.length);
  around.onLarge(writer.position, payload);
}

/**
 * Decodes a LoadGenMessage for which {@link isPart} holds. Payloads are views of `message`.
 * @param samplesMax Decoding stops one sample later: enough to refuse the part, and a peer cannot
 * cause a thousand objects with a kilobyte.
 * @throws MlperfError `ERR_WIRE_PROTOCOL`
 */
export function decodePart(
  message: Uint8Array,
  samplesMax: number = Number.POSITIVE_INFINITY,
): WirePart {
  const reader = new ProtoReader(message);
  reader.varint(); // The tag: the caller has checked it.
  const end = reader.stopOfBytes();
  if (end !== reader.end) throw malformed('more than one message in one');
  let query = 0;
  let querySampleCount = 0;
  let queryPayload: Uint8Array | undefined;
  let queryEncoding = 0;
  const querySampleBytes: number[] = [];
  const samples: PartSample[] = [];
  while (reader.position < end && samples.length <= samplesMax) {
    const tag = reader.varint();
    switch (tag) {
      case PART.samples:
        samples.push(readSample(reader));
        break;
      case PART.query:
        query = reader.varint();
        break;
      case PART.querySampleCount:
        querySampleCount = reader.varint();
        break;
      case PART.queryPayload:
        queryPayload = reader.bytes();
        break;
      case PART.queryEncoding:
        queryEncoding = reader.varint();
        break;
      case PART.querySampleBytes:
        readLength(reader, querySampleBytes, samplesMax);
        break;
      case PART.querySampleBytesPacked: {
        const stop = reader.stopOfBytes();
        while (reader.position < stop) readLength(reader, querySampleBytes, samplesMax);
        requireAt(reader, stop);
        break;
      }
      default:
        reader.skip(tag % 8);
    }
  }
  const part = { query, querySampleCount, samples };
  if (queryPayload === undefined) return part;
  return { ...part, queryPayload, queryEncoding, querySampleBytes };
}

function readLength(reader: ProtoReader, into: number[], countMax: number): void {
  const length = reader.varint();
  if (into.length <= countMax) into.push(length);
}

/** @throws MlperfError if a field extends beyond its message. */
function requireAt({ position }: ProtoReader, end: number): void {
  if (position !== end) throw malformed('a field is cut off');
}

function readSample(reader: ProtoReader): PartSample {
  const end = reader.stopOfBytes();
  let id = 0;
  let payload: Uint8Array = NO_BYTES;
  let encoding = 0;
  let offset = 0;
  let total = 0;
  while (reader.position < end) {
    const tag = reader.varint();
    if (tag === SAMPLE.id) id = reader.varint();
    else if (tag === SAMPLE.payload) payload = reader.bytes();
    else if (tag === SAMPLE.encoding) encoding = reader.varint();
    else if (tag === SAMPLE.offset) offset = reader.varint();
    else if (tag === SAMPLE.total) total = reader.varint();
    else reader.skip(tag % 8);
  }
  requireAt(reader, end);
  return { id, payload, encoding, offset, total };
}

/** Tags (field number << 3 | wire type) of the fields of Part in sut.proto. */
const PART = {
  query: 0x08,
  querySampleCount: 0x10,
  samples: 0x1a,
  queryPayload: 0x22,
  queryEncoding: 0x28,
  querySampleBytes: 0x30,
  /** The same, packed: readers must accept both. */
  querySampleBytesPacked: 0x32,
} as const;

/** Tags of the fields of Sample in sut.proto. */
const SAMPLE = {
  id: 0x08,
  payload: 0x12,
  encoding: 0x18,
  offset: 0x20,
  total: 0x28,
} as const;
