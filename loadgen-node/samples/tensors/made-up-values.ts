import type { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';
import { OIP_ELEMENT_BYTES, type OipDataType } from '../../../shared/domain/data-types.ts';

/** Bytes of a made-up text: all have the same length, so that all samples have. */
const TEXT_BYTES = 16;
/** Length before an element of BYTES. */
const LENGTH_BYTES = 4;
const TEXT_LETTERS = Buffer.from('abcdefghijklmnopqrstuvwxyz 0123456789');

/** Largest whole number: token ids and indices of that size are in nearly every model's table. */
const WHOLE_NUMBER_MAX = 99;

/** Draws one element into its place. */
type Draw = (view: DataView, at: number, random: SeededRandom) => void;

const drawByte: Draw = (view, at, random) => view.setUint8(at, random.nextUint32() & 0xff);

/**
 * How elements are drawn. Images are bytes, so 8-bit numbers take their whole range; larger whole numbers are most often
 * indices. Floating-point numbers are uniform over [0, 1), in steps that their type holds exactly, so that none is rounded
 * to 1: sequences are the same on every machine, bit by bit.
 */
const DRAWS: Readonly<Record<Exclude<OipDataType, 'BYTES'>, Draw>> = {
  BOOL: (view, at, random) => view.setUint8(at, random.nextUint32() >>> 31),
  UINT8: drawByte,
  INT8: drawByte,
  UINT16: (view, at, random) => view.setUint16(at, wholeNumber(random), true),
  INT16: (view, at, random) => view.setUint16(at, wholeNumber(random), true),
  UINT32: (view, at, random) => view.setUint32(at, wholeNumber(random), true),
  INT32: (view, at, random) => view.setUint32(at, wholeNumber(random), true),
  // The upper half stays 0.
  UINT64: (view, at, random) => view.setUint32(at, wholeNumber(random), true),
  INT64: (view, at, random) => view.setUint32(at, wholeNumber(random), true),
  FP16: (view, at, random) => view.setUint16(at, halfOf(random.nextUint32() >>> 21), true),
  BF16: (view, at, random) => {
    // The upper half of a 32-bit float whose lower half is 0.
    view.setUint16(at, upperHalfOf((random.nextUint32() >>> 24) / 2 ** 8), true);
  },
  FP32: (view, at, random) => view.setFloat32(at, (random.nextUint32() >>> 8) / 2 ** 24, true),
  FP64: (view, at, random) => {
    const high = random.nextUint32() >>> 5;
    const low = random.nextUint32() >>> 6;
    view.setFloat64(at, (high * 2 ** 26 + low) / 2 ** 53, true);
  },
};

/** Bytes of the raw contents of a made-up tensor. @param kind Texts of zeros are empty. */
export function madeUpBytes(
  datatype: OipDataType,
  elementCount: number,
  kind: 'random' | 'zeros',
): number {
  if (datatype !== 'BYTES') return elementCount * OIP_ELEMENT_BYTES[datatype];
  return elementCount * (LENGTH_BYTES + (kind === 'random' ? TEXT_BYTES : 0));
}

/** Raw contents of random elements. */
export function randomContents(
  datatype: OipDataType,
  elementCount: number,
  random: SeededRandom,
): Uint8Array {
  const raw = new Uint8Array(madeUpBytes(datatype, elementCount, 'random'));
  const view = new DataView(raw.buffer);
  const step = raw.length / elementCount;
  const draw = datatype === 'BYTES' ? drawText : DRAWS[datatype];
  for (let at = 0; at < raw.length; at += step) draw(view, at, random);
  return raw;
}

function drawText(view: DataView, at: number, random: SeededRandom): void {
  view.setUint32(at, TEXT_BYTES, true);
  for (let i = 0; i < TEXT_BYTES; i += 1) {
    const letter = TEXT_LETTERS[random.integerBelow(TEXT_LETTERS.length)] as number;
    view.setUint8(at + LENGTH_BYTES + i, letter);
  }
}

function wholeNumber(random: SeededRandom): number {
  return random.integerBelow(WHOLE_NUMBER_MAX + 1);
}

/** Bits of k / 2^11 as a 16-bit float. @param k 11 bits. */
function halfOf(k: number): number {
  if (k === 0) return 0;
  const exponent = 31 - Math.clz32(k);
  // Bias 15; the leading bit is implied, the 10 others stand behind the exponent.
  return ((exponent - 11 + 15) << 10) | ((k << (10 - exponent)) & 0x3ff);
}

const scratch = new DataView(new ArrayBuffer(4));

function upperHalfOf(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getUint16(0);
}
