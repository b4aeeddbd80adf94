import { OIP_ELEMENT_BYTES, type OipDataType } from '../../../../shared/domain/tensors.ts';
import { toSmallFloat } from '../small-float.ts';
import { bytesContents } from '../tensor-data-set.ts';

/**
 * Error with the first element that does not fit its datatype, counted in row-major order, and the
 * reason.
 */
export class ElementError extends Error {}

type FloatType = 'FP16' | 'BF16' | 'FP32' | 'FP64';
type WholeType = Exclude<OipDataType, FloatType | 'BOOL' | 'BYTES'>;

/** Numbers that JSON cannot represent. */
const SPECIAL_NUMBERS: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

/**
 * Encodes JSON elements as raw contents.
 * @param elements In row-major order.
 * @throws ElementError for the first element that does not fit the datatype
 */
export function encodeElements(datatype: OipDataType, elements: readonly unknown[]): Uint8Array {
  if (datatype === 'BYTES') return bytesContents(elements.map(textElement));
  const elementBytes = OIP_ELEMENT_BYTES[datatype];
  const raw = new Uint8Array(elements.length * elementBytes);
  const view = new DataView(raw.buffer);
  for (const [i, element] of elements.entries()) {
    const at = i * elementBytes;
    if (datatype === 'BOOL') view.setUint8(at, truth(element, i));
    else if (isFloat(datatype)) setFloat(view, at, datatype, element, i);
    else setWhole(view, at, elementBytes, wholeNumber(element, i, datatype));
  }
  return raw;
}

function isFloat(datatype: OipDataType): datatype is FloatType {
  return datatype.startsWith('FP') || datatype === 'BF16';
}

function textElement(element: unknown, index: number): Uint8Array {
  if (typeof element === 'string') return Buffer.from(element, 'utf8');
  const bytes = base64Bytes(element);
  if (bytes !== undefined) return bytes;
  throw wrong(index, element, 'BYTES are texts, or {"b64": "..."}');
}

function truth(element: unknown, index: number): number {
  if (element === true || element === 1) return 1;
  if (element === false || element === 0) return 0;
  throw wrong(index, element, 'BOOL is true or false');
}

function wholeNumber(element: unknown, index: number, datatype: WholeType): number | bigint {
  const count = 2n ** BigInt(8 * OIP_ELEMENT_BYTES[datatype]);
  const min = datatype.startsWith('U') ? 0n : -(count / 2n);
  const max = min + count - 1n;
  const number = integerOf(element);
  if (number === undefined) {
    const hint =
      typeof element === 'number' && Number.isInteger(element) ? ', written in full' : '';
    throw wrong(index, element, `${datatype} is a whole number${hint}`);
  }
  if (number < min || number > max) {
    throw wrong(index, element, `${datatype} goes from ${min} to ${max}`);
  }
  return number;
}

/**
 * The exact integer, or undefined. Digits in a text are accepted too: other tools write 64-bit
 * numbers like that.
 */
function integerOf(element: unknown): number | bigint | undefined {
  if (typeof element === 'number') return Number.isSafeInteger(element) ? element : undefined;
  const digits = isLongInteger(element) ? element[''] : element;
  return typeof digits === 'string' && /^-?\d{1,40}$/.test(digits) ? BigInt(digits) : undefined;
}

/** Two's complement: signed and unsigned values have the same bits. */
function setWhole(view: DataView, at: number, bytes: number, number: number | bigint): void {
  if (bytes === 8) view.setBigUint64(at, BigInt(number), true);
  else if (bytes === 4) view.setUint32(at, Number(number), true);
  else if (bytes === 2) view.setUint16(at, Number(number), true);
  else view.setUint8(at, Number(number));
}

function setFloat(
  view: DataView,
  at: number,
  datatype: FloatType,
  element: unknown,
  index: number,
): void {
  const number = floatOf(element);
  if (number === undefined) throw wrong(index, element, `${datatype} is a number`);
  if (datatype === 'FP64') {
    view.setFloat64(at, number, true);
    return;
  }
  if (datatype === 'FP32') {
    view.setFloat32(at, number, true);
    if (!Number.isFinite(number) || Number.isFinite(view.getFloat32(at, true))) return;
  } else {
    const bits = toSmallFloat(number, datatype);
    if (bits !== undefined) {
      view.setUint16(at, bits, true);
      return;
    }
  }
  throw wrong(index, element, `it is out of range for ${datatype}`);
}

function floatOf(element: unknown): number | undefined {
  if (typeof element === 'number') return Number.isFinite(element) ? element : undefined;
  if (isLongInteger(element)) return Number(element['']);
  if (typeof element !== 'string' || !Object.hasOwn(SPECIAL_NUMBERS, element)) return undefined;
  return SPECIAL_NUMBERS[element];
}

function wrong(index: number, element: unknown, what: string): ElementError {
  const value = isLongInteger(element) ? element[''] : JSON.stringify(element);
  return new ElementError(`element ${index} is ${value.slice(0, 60)}; ${what}`);
}

/**
 * A whole number that a JavaScript number may not hold, from {@link parseExactJson}: its digits
 * under a reserved key.
 */
interface LongInteger {
  readonly '': string;
}

/** Number of digits from which a number may exceed 2^53. */
const LONG_DIGITS = /\d{16}/;

/** A JSON string or number, verbatim. The pattern for strings needs no stack for long ones. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * JSON.parse, but whole numbers of 16 or more digits become {@link LongInteger}, since JSON.parse
 * would round them.
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  if (!LONG_DIGITS.test(text)) return JSON.parse(text);
  const exact = text.replaceAll(TOKENS, (token) =>
    /^-?\d{16,}$/.test(token) ? `{"":"${token}"}` : token,
  );
  return JSON.parse(exact);
}

/** True for a LongInteger. */
function isLongInteger(value: unknown): value is LongInteger {
  return (
    typeof value === 'object' && value !== null && '' in value && typeof value[''] === 'string'
  );
}

/**
 * Bytes of `{"b64": "..."}`.
 * @returns undefined for another value, or if the content is not base64 (with or without
 *   padding).
 */
export function base64Bytes(value: unknown): Buffer | undefined {
  if (typeof value !== 'object' || value === null || !('b64' in value)) return undefined;
  const { b64 } = value;
  if (typeof b64 !== 'string') return undefined;
  const bytes = Buffer.from(b64, 'base64');
  // Node silently skips invalid characters.
  const isAll = bytes.toString('base64').replace(/=+$/, '') === b64.replace(/=+$/, '');
  return isAll ? bytes : undefined;
}
