import { PART, type PartSample, SAMPLE, type WirePart } from '../../../shared/wire/part-codec.ts';
import { malformed } from '../../../shared/wire/proto-reader.ts';
import { PieceReader } from './piece-reader.ts';

/** A sample whose payload lies in several pieces, as it came from the socket. */
class SplitSample implements PartSample {
  readonly id: number;
  readonly encoding: number;
  readonly offset: number;
  readonly total: number;
  readonly pieces: readonly Uint8Array[];
  readonly length: number;

  constructor(
    fields: Pick<PartSample, 'id' | 'encoding' | 'offset' | 'total'>,
    pieces: readonly Uint8Array[],
  ) {
    this.id = fields.id;
    this.encoding = fields.encoding;
    this.offset = fields.offset;
    this.total = fields.total;
    this.pieces = pieces;
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** The payload as one array: a copy. */
  get payload(): Uint8Array {
    return Buffer.concat(this.pieces, this.length);
  }
}

/** Bytes of a sample's payload in this part, without a copy. */
export function payloadLength(sample: PartSample): number {
  return sample instanceof SplitSample ? sample.length : sample.payload.length;
}

/** A sample's payload in this part as views, without a copy. */
export function payloadPieces(sample: PartSample): readonly Uint8Array[] {
  return sample instanceof SplitSample ? sample.pieces : [sample.payload];
}

/**
 * As decodePart, of a message that lies in several pieces: payloads are views into them.
 * @throws MlperfError `ERR_WIRE_PROTOCOL`
 */
export function decodeSplitPart(
  message: readonly Uint8Array[],
  samplesMax: number = Number.POSITIVE_INFINITY,
): WirePart {
  const reader = new PieceReader(message);
  reader.varint(); // The tag: whoever calls has seen that it is a part.
  const end = reader.stopOfBytes();
  if (end !== reader.end) {
    throw malformed('more than one message in one');
  }
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
        queryPayload = Buffer.concat(reader.bytes());
        break;
      case PART.queryEncoding:
        queryEncoding = reader.varint();
        break;
      case PART.querySampleBytes:
        push(querySampleBytes, reader.varint(), samplesMax);
        break;
      case PART.querySampleBytesPacked:
        readPacked(reader, querySampleBytes, samplesMax);
        break;
      default:
        reader.skip(tag % 8);
    }
  }
  const part = { query, querySampleCount, samples };
  if (queryPayload === undefined) return part;
  return { ...part, queryPayload, queryEncoding, querySampleBytes };
}

function readSample(reader: PieceReader): SplitSample {
  const end = reader.stopOfBytes();
  const fields = { id: 0, encoding: 0, offset: 0, total: 0 };
  let pieces: readonly Uint8Array[] = [];
  while (reader.position < end) {
    const tag = reader.varint();
    if (tag === SAMPLE.id) fields.id = reader.varint();
    else if (tag === SAMPLE.payload) pieces = reader.bytes();
    else if (tag === SAMPLE.encoding) fields.encoding = reader.varint();
    else if (tag === SAMPLE.offset) fields.offset = reader.varint();
    else if (tag === SAMPLE.total) fields.total = reader.varint();
    else reader.skip(tag % 8);
  }
  reader.requireAt(end);
  return new SplitSample(fields, pieces);
}

function readPacked(reader: PieceReader, into: number[], countMax: number): void {
  const end = reader.stopOfBytes();
  while (reader.position < end) push(into, reader.varint(), countMax);
  reader.requireAt(end);
}

function push(list: number[], value: number, countMax: number): void {
  if (list.length <= countMax) list.push(value);
}
