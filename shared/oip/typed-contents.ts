import { MlperfError } from '../errors/mlperf-error.ts';
import { malformed, ProtoReader } from '../wire/proto-reader.ts';
import { ProtoWriter, varintSize } from '../wire/proto-writer.ts';
import { OIP_ELEMENT_BYTES, type OipDataType } from './data-types.ts';
import { integerElements, readIntegers, writeIntegers, writtenSize } from './typed-integers.ts';

/**
 * Typed contents (InferTensorContents, encoded) of a tensor and its raw contents, each made of the other, exactly: no
 * integer goes through a floating-point number of too few bits. Raw contents are little-endian elements; those of BYTES
 * are 4 bytes of length and then the bytes, for each element.
 * Source: Open Inference Protocol, gRPC, "InferTensorContents"; the numbers are those of proto/inference/open_inference.proto.
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

/** Bytes before each element of BYTES in raw contents. */
const LENGTH_BYTES = 4;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/**
 * Raw contents as an encoded InferTensorContents.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` for a datatype that has no list (FP16, BF16), bytes that are no whole elements, and
 *   a BOOL other than 0 and 1.
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
 * An encoded InferTensorContents as raw contents. Lists may be packed or not, and come in pieces.
 * @param elementCount Elements that the tensor's shape asks for; memory is taken once they are known to be there.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` for malformed bytes, another number of elements, elements in the list of another
 *   datatype, and values that the datatype cannot hold.
 */
export function decodeTypedContents(
  datatype: OipDataType,
  contents: Uint8Array,
  elementCount: number,
): Uint8Array {
  const field = fieldOf(datatype);
  const runs = runsOf(datatype, field, contents);
  if (datatype === 'BYTES') return decodeBytes(runs, elementCount);
  const raw = (count: number): Uint8Array => {
    checkCount(datatype, count, elementCount);
    return new Uint8Array(count * OIP_ELEMENT_BYTES[datatype]);
  };
  if (datatype !== 'FP32' && datatype !== 'FP64') return readIntegers(datatype, runs, raw);
  const bytes = OIP_ELEMENT_BYTES[datatype];
  let total = 0;
  for (const run of runs) {
    if (run.length % bytes !== 0) throw malformed(`an element of ${field.name} is cut off`);
    total += run.length;
  }
  const target = raw(total / bytes);
  let position = 0;
  for (const run of runs) {
    target.set(run, position);
    position += run.length;
  }
  return target;
}

/** @throws MlperfError `ERR_WIRE_PROTOCOL` */
function fieldOf(datatype: OipDataType): ContentsField {
  const field = FIELD_OF_TYPE[datatype];
  if (field !== undefined) return field;
  throw refusal(
    `typed contents have no list for elements of ${datatype}; they travel as raw contents only`,
  );
}

/** Values of the datatype's list, in order: bytes of packed lists, of single values, or of elements of BYTES. */
function runsOf(datatype: OipDataType, field: ContentsField, contents: Uint8Array): Uint8Array[] {
  const runs: Uint8Array[] = [];
  const single = datatype === 'FP32' ? FIXED32 : datatype === 'FP64' ? FIXED64 : VARINT;
  const reader = new ProtoReader(contents);
  while (reader.position < reader.end) {
    const tag = reader.varint();
    const wireType = tag % 8;
    const number = (tag - wireType) / 8;
    if (number !== field.number) {
      skipOther(reader, number, wireType, { datatype, field });
    } else if (wireType === LENGTH_DELIMITED) {
      runs.push(reader.bytes());
    } else if (wireType === single && datatype !== 'BYTES') {
      const begin = reader.position;
      reader.skip(wireType);
      runs.push(contents.subarray(begin, reader.position));
    } else {
      throw malformed(`${field.name} has the wire type ${wireType}`);
    }
  }
  return runs;
}

/** @throws MlperfError `ERR_WIRE_PROTOCOL` where it is another list, and not empty. */
function skipOther(
  reader: ProtoReader,
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
  throw refusal(`elements of ${datatype} belong into ${field.name}; there are some in ${other}`);
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

function decodeBytes(elements: readonly Uint8Array[], elementCount: number): Uint8Array {
  checkCount('BYTES', elements.length, elementCount);
  let size = 0;
  for (const { length } of elements) size += LENGTH_BYTES + length;
  const raw = Buffer.allocUnsafe(size);
  let position = 0;
  for (const element of elements) {
    position = raw.writeUInt32LE(element.length, position);
    raw.set(element, position);
    position += element.length;
  }
  return raw;
}

/**
 * Calls `take` with each element of raw contents of BYTES, in order; views.
 * @returns How many there are.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` where the last of them is cut off.
 */
export function forEachBytesElement(
  raw: Uint8Array,
  take: (element: Uint8Array) => void = () => {},
): number {
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length);
  let position = 0;
  let count = 0;
  while (position < raw.length) {
    const begin = position + LENGTH_BYTES;
    const end = begin <= raw.length ? begin + view.getUint32(position, true) : begin;
    if (end > raw.length) {
      throw refusal(
        `element ${count} of BYTES is cut off: it ends at ${end}, there are ${raw.length} bytes`,
      );
    }
    take(raw.subarray(begin, end));
    position = end;
    count += 1;
  }
  return count;
}

/** @throws MlperfError `ERR_WIRE_PROTOCOL` */
function checkWhole(datatype: OipDataType, { length }: Uint8Array): void {
  const bytes = OIP_ELEMENT_BYTES[datatype];
  if (length % bytes === 0) return;
  throw refusal(`${length} bytes are no whole elements of ${datatype}, which have ${bytes} each`);
}

function checkCount(datatype: OipDataType, count: number, expected: number): void {
  if (count === expected) return;
  throw refusal(
    `typed contents of ${datatype} have ${count} elements; the shape asks for ${expected}`,
  );
}

function refusal(text: string): MlperfError {
  return new MlperfError('ERR_WIRE_PROTOCOL', text);
}
