import { type BorrowedBytes, littleUint32At } from '../../base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../../base/errors/mlperf-error.ts';
import { OIP_ELEMENT_BYTES, type OipDataType } from '../../domain/tensors.ts';
import { malformed, ProtoReader, ProtoWriter, varintSize } from '../proto-wire.ts';
import {
  integerElements,
  type Runs,
  readIntegers,
  varintCount,
  writeIntegers,
  writtenSize,
  wrongContents,
} from './typed-integers.ts';

/**
 * Typed contents (InferTensorContents, encoded) of a tensor and its raw contents, each made of the
 * other, exactly: no integer goes through a floating-point number of too few bits. Raw contents are
 * little-endian elements; those of BYTES are 4 bytes of length and then the bytes, for each
 * element. Source: Open Inference Protocol, gRPC, "InferTensorContents"; the numbers are those of
 * proto/inference/open_inference.proto.
 */

/** The list that holds elements of a datatype. */
interface ContentsField {
  readonly number: number;
  readonly name: string;
}

const FIELDS = {
  bool: { number: 1, name: 'bool_contents' },
  int: { number: 2, name: 'int_contents' },
  int64: { number: 3, name: 'int64_contents' },
  uint: { number: 4, name: 'uint_contents' },
  uint64: { number: 5, name: 'uint64_contents' },
  fp32: { number: 6, name: 'fp32_contents' },
  fp64: { number: 7, name: 'fp64_contents' },
  bytes: { number: 8, name: 'bytes_contents' },
} as const satisfies Record<string, ContentsField>;

const FIELD_OF_TYPE: Readonly<Partial<Record<OipDataType, ContentsField>>> = {
  BOOL: FIELDS.bool,
  INT8: FIELDS.int,
  INT16: FIELDS.int,
  INT32: FIELDS.int,
  INT64: FIELDS.int64,
  UINT8: FIELDS.uint,
  UINT16: FIELDS.uint,
  UINT32: FIELDS.uint,
  UINT64: FIELDS.uint64,
  FP32: FIELDS.fp32,
  FP64: FIELDS.fp64,
  BYTES: FIELDS.bytes,
};

const NAME_OF_NUMBER: ReadonlyMap<number, string> = new Map(
  Object.values(FIELDS).map(({ number, name }) => [number, name]),
);

/** Length prefix of each BYTES element in raw contents, bytes. */
const LENGTH_BYTES = 4;

/**
 * Extra fields allowed in typed contents beyond one per element: empty lists, and fields of newer
 * peers.
 */
const PIECES_SPARE = 256;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/**
 * Raw contents as an encoded InferTensorContents.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` for a datatype without a list (FP16, BF16), incomplete
 * elements, and a BOOL other than 0 and 1.
 */
export function encodeTypedContents(datatype: OipDataType, raw: Uint8Array): Uint8Array {
  const { number } = fieldOf(datatype);
  if (datatype === 'BYTES') return encodeBytes(number, raw);
  checkWhole(datatype, raw);
  const elements = integerElements(datatype, raw);
  const size = elements === undefined ? raw.length : writtenSize(elements);
  if (size === 0) return new Uint8Array(0);
  const writer = new ProtoWriter(Buffer.allocUnsafe(1 + varintSize(size) + size));
  writer.head(number * 8 + LENGTH_DELIMITED, size);
  if (elements === undefined) writer.buffer.set(raw, writer.position);
  else writeIntegers(elements, writer.buffer, writer.position);
  return writer.buffer;
}

/**
 * An encoded InferTensorContents as raw contents. Lists may be packed or not, and split.
 * @param elementCount Elements by the tensor's shape; memory is allocated after they were counted.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` for malformed bytes, another number of elements, elements
 * in the list of another datatype, and values that the datatype cannot hold.
 */
export function decodeTypedContents(
  datatype: OipDataType,
  contents: BorrowedBytes,
  elementCount: number,
): Uint8Array {
  const field = fieldOf(datatype);
  const runs: Runs = (take) =>
    walkRuns(datatype, field, contents, elementCount + PIECES_SPARE, take);
  const countIn = elementCounter(datatype, field, contents);
  let count = 0;
  let bytes = 0;
  runs((begin, end) => {
    count += countIn(begin, end);
    bytes += end - begin;
    if (count > elementCount) throw wrongCount(datatype, `${count} elements or more`, elementCount);
  });
  if (count !== elementCount) throw wrongCount(datatype, `${count} elements`, elementCount);
  if (datatype === 'BYTES') {
    const raw = Buffer.allocUnsafe(bytes + LENGTH_BYTES * count);
    let position = 0;
    runs((begin, end) => {
      position = raw.writeUInt32LE(end - begin, position);
      raw.set(contents.subarray(begin, end), position);
      position += end - begin;
    });
    return raw;
  }
  const raw = new Uint8Array(count * OIP_ELEMENT_BYTES[datatype]);
  if (datatype !== 'FP32' && datatype !== 'FP64') {
    readIntegers(datatype, contents, runs, raw);
    return raw;
  }
  let position = 0;
  runs((begin, end) => {
    raw.set(contents.subarray(begin, end), position);
    position += end - begin;
  });
  return raw;
}

/** Returns a function that counts the elements of a run. It throws for a truncated one. */
function elementCounter(
  datatype: OipDataType,
  { name }: ContentsField,
  contents: BorrowedBytes,
): (begin: number, end: number) => number {
  if (datatype === 'BYTES') return () => 1;
  if (datatype !== 'FP32' && datatype !== 'FP64') {
    return (begin, end) => varintCount(contents, begin, end);
  }
  const bytes = OIP_ELEMENT_BYTES[datatype];
  return (begin, end) => {
    if ((end - begin) % bytes !== 0) throw malformed(`an element of ${name} is cut off`);
    return (end - begin) / bytes;
  };
}

/** @throws MlperfError `ERR_WIRE_PROTOCOL` */
function fieldOf(datatype: OipDataType): ContentsField {
  const field = FIELD_OF_TYPE[datatype];
  if (field !== undefined) return field;
  throw wrongContents(
    `typed contents have no list for elements of ${datatype}; they travel as raw contents only`,
  );
}

/**
 * Calls `take` with the position of each packed list, each single value, or each BYTES element, in
 * order. Stores none of them: a message of 60 MB may have 30 million.
 * @param piecesMax Most fields of any kind.
 */
function walkRuns(
  datatype: OipDataType,
  field: ContentsField,
  contents: BorrowedBytes,
  piecesMax: number,
  take: (begin: number, end: number) => void,
): void {
  const single = wireTypeOfOne(datatype);
  const other = { datatype, field };
  const reader = new ProtoReader(contents);
  for (let pieces = 0; reader.position < reader.end; pieces += 1) {
    if (pieces === piecesMax)
      throw wrongContents(`typed contents have more than ${piecesMax} fields`);
    const tag = reader.varint();
    const wireType = tag % 8;
    const number = (tag - wireType) / 8;
    if (number !== field.number) {
      skipOther(reader, number, wireType, other);
    } else if (wireType === LENGTH_DELIMITED) {
      take(passBytes(reader), reader.position);
    } else if (wireType === single) {
      const begin = reader.position;
      reader.skip(wireType);
      take(begin, reader.position);
    } else {
      throw malformed(`${field.name} has the wire type ${wireType}`);
    }
  }
}

/** Wire type of an element outside a packed list; undefined if impossible. */
function wireTypeOfOne(datatype: OipDataType): number | undefined {
  if (datatype === 'BYTES') return undefined;
  if (datatype === 'FP32') return FIXED32;
  return datatype === 'FP64' ? FIXED64 : VARINT;
}

/** Skips a length and its bytes. @returns Start of the bytes. */
function passBytes(reader: ProtoReader<BorrowedBytes>): number {
  const length = reader.varint();
  const begin = reader.position;
  if (begin + length > reader.end) throw malformed('a field is cut off');
  reader.position = begin + length;
  return begin;
}

/** @throws MlperfError `ERR_WIRE_PROTOCOL` if another list is not empty. */
function skipOther(
  reader: ProtoReader<BorrowedBytes>,
  number: number,
  wireType: number,
  { datatype, field }: { readonly datatype: OipDataType; readonly field: ContentsField },
): void {
  const begin = reader.position;
  reader.skip(wireType);
  const other = NAME_OF_NUMBER.get(number);
  if (other === undefined) return;
  const isEmptyList =
    wireType === LENGTH_DELIMITED && reader.position === begin + 1 && number !== 8;
  if (isEmptyList) return;
  throw wrongContents(
    `elements of ${datatype} belong into ${field.name}; there are some in ${other}`,
  );
}

function encodeBytes(number: number, raw: Uint8Array): Uint8Array {
  let size = 0;
  forEachBytesElement(raw, ({ length }) => {
    size += 1 + varintSize(length) + length;
  });
  const writer = new ProtoWriter(Buffer.allocUnsafe(size));
  forEachBytesElement(raw, (element) => {
    writer.head(number * 8 + LENGTH_DELIMITED, element.length);
    writer.buffer.set(element, writer.position);
    writer.position += element.length;
  });
  return writer.buffer;
}

/**
 * Calls `take` with each BYTES element of raw contents, in order, as views.
 * @returns Number of elements.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` if the last one is truncated.
 */
export function forEachBytesElement<Bytes extends BorrowedBytes>(
  raw: Bytes,
  take: (element: Bytes) => void = () => {},
): number {
  let position = 0;
  let count = 0;
  while (position < raw.length) {
    const begin = position + LENGTH_BYTES;
    const end = begin <= raw.length ? begin + littleUint32At(raw, position) : begin;
    if (end > raw.length) {
      throw wrongContents(
        `element ${count} of BYTES is cut off: it ends at ${end}, there are ${raw.length} bytes`,
      );
    }
    take(raw.subarray(begin, end) as Bytes);
    position = end;
    count += 1;
  }
  return count;
}

/** @throws MlperfError `ERR_WIRE_PROTOCOL` */
function checkWhole(datatype: OipDataType, { length }: Uint8Array): void {
  const bytes = OIP_ELEMENT_BYTES[datatype];
  if (length % bytes === 0) return;
  throw wrongContents(
    `${length} bytes are no whole elements of ${datatype}, which have ${bytes} each`,
  );
}

function wrongCount(datatype: OipDataType, found: string, expected: number): MlperfError {
  return wrongContents(
    `typed contents of ${datatype} have ${found}; the shape asks for ${expected}`,
  );
}
