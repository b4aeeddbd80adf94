import { join } from 'node:path';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { MlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import { protoFolder } from '../../../../../shared/base/files/package-files.ts';
import { OIP_ELEMENT_BYTES, type OipDataType } from '../../../../../shared/domain/tensors.ts';
import {
  decodeTypedContents,
  encodeTypedContents,
  forEachBytesElement,
} from '../../../../../shared/wire/oip/typed-contents.ts';

// Goal: typed contents are protobuf that any other implementation reads and writes, and every value
// survives exactly. Method: both ways against the reflection codec that protobufjs makes of the
// .proto file.

const root = protobuf.loadSync(join(protoFolder(), 'inference/open_inference.proto'));
const reference = root.lookupType('inference.InferTensorContents');

const FIELD: Readonly<Record<string, string>> = {
  BOOL: 'boolContents',
  INT8: 'intContents',
  INT16: 'intContents',
  INT32: 'intContents',
  INT64: 'int64Contents',
  UINT8: 'uintContents',
  UINT16: 'uintContents',
  UINT32: 'uintContents',
  UINT64: 'uint64Contents',
  FP32: 'fp32Contents',
  FP64: 'fp64Contents',
  BYTES: 'bytesContents',
};
const TYPES = Object.keys(FIELD) as OipDataType[];

/** Elements in raw contents, as text. */
function values(datatype: OipDataType, raw: Uint8Array): string[] {
  const buffer = Buffer.from(raw);
  const count = buffer.length / OIP_ELEMENT_BYTES[datatype];
  const read: Partial<Record<OipDataType, (at: number) => unknown>> = {
    BOOL: (i) => buffer.readUInt8(i) === 1,
    INT8: (i) => buffer.readInt8(i),
    UINT8: (i) => buffer.readUInt8(i),
    INT16: (i) => buffer.readInt16LE(i * 2),
    UINT16: (i) => buffer.readUInt16LE(i * 2),
    INT32: (i) => buffer.readInt32LE(i * 4),
    UINT32: (i) => buffer.readUInt32LE(i * 4),
    INT64: (i) => buffer.readBigInt64LE(i * 8),
    UINT64: (i) => buffer.readBigUInt64LE(i * 8),
    FP32: (i) => buffer.readFloatLE(i * 4),
    FP64: (i) => buffer.readDoubleLE(i * 8),
  };
  return Array.from({ length: count }, (_, i) => String(read[datatype]?.(i)));
}

function rawBytes(elements: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    elements.flatMap((element) => {
      const head = Buffer.alloc(4);
      head.writeUInt32LE(element.length);
      return [head, element];
    }),
  );
}

/** JavaScript does not keep the bits of a NaN, and so protobufjs does not. */
function noNan(datatype: OipDataType, element: number[]): number[] {
  const last = datatype === 'FP32' || datatype === 'FP64' ? 0xbf : 0xff;
  return element.map((byte, i) => (i === element.length - 1 ? byte & last : byte));
}

const raws = (datatype: OipDataType): fc.Arbitrary<Uint8Array> => {
  if (datatype === 'BYTES') {
    return fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }).map(rawBytes);
  }
  const bytes = OIP_ELEMENT_BYTES[datatype];
  const max = datatype === 'BOOL' ? 1 : 255;
  // Of few different bytes: values near 0, near the limits, and any others.
  const byte = fc.oneof(fc.constantFrom(0, 255, 127, 128), fc.nat(255)).map((one) => one & max);
  return fc
    .array(fc.array(byte, { minLength: bytes, maxLength: bytes }), { maxLength: 40 })
    .map((elements) => Uint8Array.from(elements.flatMap((one) => noNan(datatype, one))));
};

function countOf(datatype: OipDataType, raw: Uint8Array): number {
  return datatype === 'BYTES' ? forEachBytesElement(raw) : raw.length / OIP_ELEMENT_BYTES[datatype];
}

describe('typed contents', () => {
  it.each(TYPES)('of %s are read by protobufjs with every value as it was', (datatype) => {
    fc.assert(
      fc.property(raws(datatype), (raw) => {
        const decoded = reference.decode(encodeTypedContents(datatype, raw));
        const list = (decoded as unknown as Record<string, unknown[]>)[FIELD[datatype] as string];
        if (datatype === 'BYTES') {
          expect(rawBytes(list as Uint8Array[])).toEqual(Buffer.from(raw));
        } else expect(list?.map(String)).toEqual(values(datatype, raw));
      }),
    );
  });

  it.each(TYPES)('of %s that protobufjs wrote become the raw contents', (datatype) => {
    fc.assert(
      fc.property(raws(datatype), (raw) => {
        const once = reference.decode(encodeTypedContents(datatype, raw));
        const again = reference.encode(once).finish();
        expect(Buffer.from(decodeTypedContents(datatype, again, countOf(datatype, raw)))).toEqual(
          Buffer.from(raw),
        );
      }),
    );
  });

  it('hold whole numbers of 64 bits exactly', () => {
    const raw = Buffer.alloc(16);
    raw.writeBigInt64LE(-(2n ** 63n), 0);
    raw.writeBigInt64LE(2n ** 53n + 1n, 8);
    expect(Buffer.from(encodeTypedContents('INT64', raw)).toString('hex')).toBe(
      '1a128080808080808080800181808080808080' + '10',
    );
    expect(decodeTypedContents('INT64', encodeTypedContents('INT64', raw), 2)).toEqual(
      new Uint8Array(raw),
    );
  });

  it('may be unpacked, packed, and both', () => {
    // int_contents: 1 unpacked, [2, -1] packed, 300 unpacked.
    const contents = Buffer.from('1001120b02ffffffffffffffffff0110ac02', 'hex');
    const raw = Buffer.from(decodeTypedContents('INT32', contents, 4));
    expect(values('INT32', raw)).toEqual(['1', '2', '-1', '300']);
    // fp32_contents: 1.5 unpacked, [2.5] packed.
    const floats = Buffer.from('350000c03f320400002040', 'hex');
    expect(values('FP32', decodeTypedContents('FP32', floats, 2))).toEqual(['1.5', '2.5']);
  });

  it('may hold fields that nobody knows', () => {
    const contents = Buffer.from('f80101' + '0a020001', 'hex');
    expect(decodeTypedContents('BOOL', contents, 2)).toEqual(Uint8Array.of(0, 1));
  });

  it.each<[string, OipDataType, string, number, RegExp]>([
    ['too few elements', 'UINT8', '22020102', 3, /have 2 elements; the shape asks for 3/],
    [
      'too many elements',
      'BYTES',
      '4200420141',
      1,
      /BYTES have 2 elements or more; the shape asks for 1/,
    ],
    ['the list of another datatype', 'INT8', '22020102', 2, /into int_contents.*in uint_contents/],
    ['a number that the datatype has not', 'UINT8', '2202ac02', 1, /element 0 is 300.*UINT8 holds/],
    [
      'a negative number too small',
      'INT8',
      `120a${'80'.repeat(2)}${'ff'.repeat(7)}01`,
      1,
      /no INT8 holds/,
    ],
    ['a number that is cut off', 'INT64', '1a0180', 1, /a number is cut off/],
    ['a number of 11 bytes', 'INT64', `1a0b${'80'.repeat(10)}01`, 1, /more than 10 bytes/],
    ['a list that is cut off', 'FP32', '3208000000', 2, /a field is cut off/],
    ['half a float', 'FP32', '3203000000', 1, /element of fp32_contents is cut off/],
    ['another wire type', 'FP64', '3800', 1, /fp64_contents has the wire type 0/],
  ])('are refused with %s', (_case, datatype, contents, count, text) => {
    const decode = (): unknown =>
      decodeTypedContents(datatype, Buffer.from(contents, 'hex'), count);
    expect(decode).toThrow(MlperfError);
    expect(decode).toThrow(text);
  });

  it.each<[string, OipDataType, number[], RegExp]>([
    ['FP16, which has no list', 'FP16', [0, 0], /no list for elements of FP16/],
    ['bytes that are no elements', 'INT32', [1, 2, 3], /3 bytes are no whole elements of INT32/],
    ['a BOOL of 2', 'BOOL', [0, 2], /element 1 is 2, which is no BOOL/],
    ['an element that is cut off', 'BYTES', [2, 0, 0, 0, 65], /element 0 of BYTES is cut off/],
    ['a length that is cut off', 'BYTES', [0, 0, 0, 0, 65], /element 1 of BYTES is cut off/],
  ])('cannot be made of %s', (_case, datatype, raw, text) => {
    expect(() => encodeTypedContents(datatype, Uint8Array.from(raw))).toThrow(text);
  });

  it('take no memory for elements that are not there', () => {
    expect(() => decodeTypedContents('FP64', new Uint8Array(0), 2 ** 50)).toThrow(
      /have 0 elements/,
    );
  });
});
