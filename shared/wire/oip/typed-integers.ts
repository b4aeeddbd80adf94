import type { BorrowedBytes } from '../../base/bytes/borrowed-bytes.ts';
import { type MlperfError, wireError } from '../../base/errors/mlperf-error.ts';
import { OIP_ELEMENT_BYTES, type OipDataType } from '../../domain/tensors.ts';
import { malformed } from '../proto-wire.ts';

/** Largest value of an element narrower than its list's type; the smallest is -max - 1, or 0. */
const NARROW_MAX: Readonly<Partial<Record<OipDataType, number>>> = {
  INT8: 0x7f,
  INT16: 0x7fff,
  UINT8: 0xff,
  UINT16: 0xffff,
};

const SIGNED: readonly OipDataType[] = ['INT8', 'INT16', 'INT32', 'INT64'];

/** Longest varint. */
const VARINT_BYTES_MAX = 10;

/** A 64-bit varint in halves, on which JavaScript's bit operations are exact. */
export interface Halves {
  low: number;
  high: number;
}

/** Raw integer elements, readable as the 64 bits that protobuf sends for each. */
export interface IntegerElements {
  readonly count: number;
  /** Writes the element into `into`, sign-extended. */
  read(index: number, into: Halves): void;
}

/**
 * Views raw elements; undefined for datatypes not sent as varints.
 * @param datatype A datatype with a list of fixed-size elements.
 * @param raw Complete elements.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` for a BOOL other than 0 and 1.
 */
export function integerElements(
  datatype: OipDataType,
  raw: Uint8Array,
): IntegerElements | undefined {
  if (datatype === 'FP32' || datatype === 'FP64') return undefined;
  const bytes = OIP_ELEMENT_BYTES[datatype];
  const count = raw.length / bytes;
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length);
  if (bytes === 8) {
    return {
      count,
      read: (index, into) => {
        into.low = view.getInt32(index * 8, true);
        into.high = view.getInt32(index * 8 + 4, true);
      },
    };
  }
  if (datatype === 'BOOL') checkBools(raw);
  const isSigned = SIGNED.includes(datatype);
  const valueAt = narrowReader(view, bytes, isSigned);
  return {
    count,
    read: (index, into) => {
      const value = valueAt(index);
      into.low = value | 0;
      into.high = isSigned && value < 0 ? -1 : 0;
    },
  };
}

function narrowReader(view: DataView, bytes: number, isSigned: boolean): (i: number) => number {
  if (bytes === 1) return isSigned ? (i) => view.getInt8(i) : (i) => view.getUint8(i);
  if (bytes === 2) {
    return isSigned ? (i) => view.getInt16(i * 2, true) : (i) => view.getUint16(i * 2, true);
  }
  return isSigned ? (i) => view.getInt32(i * 4, true) : (i) => view.getUint32(i * 4, true);
}

function checkBools(raw: Uint8Array): void {
  const place = raw.findIndex((byte) => byte > 1);
  if (place >= 0)
    throw wrongContents(`element ${place} is ${raw[place]}, which is no BOOL (0 or 1)`);
}

/** Bytes of all elements as varints. */
export function writtenSize(elements: IntegerElements): number {
  const halves = { low: 0, high: 0 };
  let size = 0;
  for (let i = 0; i < elements.count; i += 1) {
    elements.read(i, halves);
    const { low, high } = halves;
    const bits = high === 0 ? 32 - Math.clz32(low) : 64 - Math.clz32(high);
    size += Math.max(1, Math.ceil(bits / 7));
  }
  return size;
}

/** Writes all elements as consecutive varints. */
export function writeIntegers(elements: IntegerElements, into: Uint8Array, begin: number): void {
  const halves = { low: 0, high: 0 };
  let position = begin;
  for (let i = 0; i < elements.count; i += 1) {
    elements.read(i, halves);
    let { low, high } = halves;
    while (high !== 0 || low >>> 0 >= 0x80) {
      into[position++] = (low & 0x7f) | 0x80;
      low = (low >>> 7) | (high << 25);
      high >>>= 7;
    }
    into[position++] = low;
  }
}

/**
 * Calls `take` with the position of each run of values in a message, in order; may be called again.
 */
export type Runs = (take: (begin: number, end: number) => void) => void;

/** Varints in a run: each ends with a byte below 128. @throws MlperfError `ERR_WIRE_PROTOCOL` */
export function varintCount(bytes: BorrowedBytes, begin: number, end: number): number {
  if (end > begin && (bytes[end - 1] as number) >= 0x80) throw malformed('a number is cut off');
  let count = 0;
  for (let i = begin; i < end; i += 1) count += (bytes[i] as number) < 0x80 ? 1 : 0;
  return count;
}

/**
 * Decodes varints into raw elements.
 * @param runs Runs of complete varints, counted by {@link varintCount}.
 * @param target Raw elements, one per varint.
 * @throws MlperfError `ERR_WIRE_PROTOCOL` for malformed varints and values outside the datatype.
 */
export function readIntegers(
  datatype: OipDataType,
  bytes: BorrowedBytes,
  runs: Runs,
  target: Uint8Array,
): void {
  const write = elementWriter(datatype, target);
  const halves = { low: 0, high: 0 };
  let index = 0;
  runs((begin, end) => {
    let position = begin;
    while (position < end) {
      position = readVarint(bytes, position, halves);
      write(index, halves);
      index += 1;
    }
  });
}

/**
 * @returns The position after the varint, which is known to end in `run`. @throws MlperfError
 * `ERR_WIRE_PROTOCOL`
 */
export function readVarint(run: BorrowedBytes, begin: number, into: Halves): number {
  const first = run[begin] as number;
  into.low = first & 0x7f;
  into.high = 0;
  if (first < 0x80) return begin + 1;
  for (let i = 1; i < VARINT_BYTES_MAX; i += 1) {
    const byte = run[begin + i] as number;
    const bits = byte & 0x7f;
    const shift = 7 * i;
    if (shift < 32) into.low |= bits << shift;
    if (shift === 28) into.high |= bits >>> 4;
    else if (shift > 28) into.high |= bits << (shift - 32);
    if (byte < 0x80) return begin + i + 1;
  }
  throw malformed(`a number has more than ${VARINT_BYTES_MAX} bytes`);
}

function elementWriter(
  datatype: OipDataType,
  target: Uint8Array,
): (index: number, halves: Halves) => void {
  const view = new DataView(target.buffer, target.byteOffset, target.length);
  if (datatype === 'INT64' || datatype === 'UINT64') {
    return (index, { low, high }) => {
      view.setInt32(index * 8, low, true);
      view.setInt32(index * 8 + 4, high, true);
    };
  }
  if (datatype === 'BOOL') {
    return (index, { low, high }) => {
      target[index] = low === 0 && high === 0 ? 0 : 1;
    };
  }
  // As protobuf decodes 32 bits: higher bits are dropped.
  if (datatype === 'INT32' || datatype === 'UINT32') {
    return (index, { low }) => view.setInt32(index * 4, low, true);
  }
  const max = NARROW_MAX[datatype] as number; // The remaining datatypes are narrow.
  const isSigned = SIGNED.includes(datatype);
  const min = isSigned ? -max - 1 : 0;
  const isByte = OIP_ELEMENT_BYTES[datatype] === 1;
  return (index, { low }) => {
    const value = isSigned ? low | 0 : low >>> 0;
    if (value < min || value > max) {
      throw wrongContents(
        `element ${index} is ${value}, which no ${datatype} holds (${min} to ${max})`,
      );
    }
    if (isByte) target[index] = value;
    else view.setInt16(index * 2, value, true);
  };
}

/** Error for contents that break the protocol. */
export function wrongContents(text: string): MlperfError {
  return wireError(text);
}
