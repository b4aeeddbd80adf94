import { dataSetError, type MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import type { OipDataType } from '../../../../shared/domain/tensors.ts';

/** Header of a .npy file. */
export interface NpyHeader {
  /** NumPy's element type, such as `<f4`. */
  readonly descr: string;
  /** True if the first axis is fastest. */
  readonly isFortranOrder: boolean;
  readonly shape: readonly number[];
  /** Offset of the first element in the file. */
  readonly dataOffset: number;
}

const MAGIC = Buffer.from('\x93NUMPY', 'latin1');
/** Magic and version. */
const PREAMBLE_BYTES = 8;

/** Most bytes of a header that is read; longer ones do not belong to arrays of numbers. */
export const NPY_HEADER_BYTES_MAX: number = 64 * 1024;

/**
 * Reads the header of a .npy file. Rule: NumPy, "NPY format", versions 1.0, 2.0 and 3.0.
 * @param bytes Start of the file, up to {@link NPY_HEADER_BYTES_MAX}.
 * @param path For messages only.
 * @throws MlperfError `ERR_DATA_SET`
 */
export function parseNpyHeader(bytes: Buffer, path: string): NpyHeader {
  const wrong = (what: string): MlperfError => dataSetError(`${path}: ${what}`);
  if (bytes.length < PREAMBLE_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw wrong("is no .npy file: it does not begin with NumPy's mark");
  }
  const [major, minor] = [bytes[6] as number, bytes[7] as number];
  if (major < 1 || major > 3 || minor !== 0) {
    throw wrong(
      `is of the version ${major}.${minor} of the .npy format; 1.0, 2.0 and 3.0 are read`,
    );
  }
  const lengthBytes = major === 1 ? 2 : 4;
  const headerAt = PREAMBLE_BYTES + lengthBytes;
  if (bytes.length < headerAt) throw wrong('is cut off in its header');
  const headerBytes = bytes.readUIntLE(PREAMBLE_BYTES, lengthBytes);
  const dataOffset = headerAt + headerBytes;
  if (dataOffset > NPY_HEADER_BYTES_MAX) {
    throw wrong(`has a header of ${headerBytes} bytes, which no array of plain elements has`);
  }
  if (bytes.length < dataOffset) throw wrong('is cut off in its header');
  const text = bytes.toString(major === 3 ? 'utf8' : 'latin1', headerAt, dataOffset);
  return { ...parseDictionary(text, wrong), dataOffset };
}

/**
 * One entry of the Python dictionary: a text, a bool, or a tuple of numbers. A list is a structured
 * type.
 */
const ENTRY = /\s*'(\w+)'\s*:\s*(?:'([^']*)'|(True|False)|\(([\d\s,L]*)\)|(\[))\s*(?:,|(?=\}))/y;
const BEGIN = /^\s*\{/;
const END = /^\s*\}\s*$/;

function parseDictionary(
  text: string,
  wrong: (what: string) => MlperfError,
): Omit<NpyHeader, 'dataOffset'> {
  const unreadable = (): MlperfError =>
    wrong(`has a header that does not describe an array: ${JSON.stringify(text.slice(0, 100))}`);
  const begin = BEGIN.exec(text);
  if (begin === null) throw unreadable();
  if (/'descr'\s*:\s*\[/.test(text)) {
    throw wrong('holds records of several fields; one plain array per file is read');
  }
  let descr: string | undefined;
  let order: string | undefined;
  let axes: string | undefined;
  ENTRY.lastIndex = begin[0].length;
  let end = ENTRY.lastIndex;
  for (let entry = ENTRY.exec(text); entry !== null; entry = ENTRY.exec(text)) {
    const [, key, quoted, truth, tuple] = entry;
    if (key === 'descr') descr = quoted;
    else if (key === 'fortran_order') order = truth;
    else if (key === 'shape') axes = tuple;
    else throw unreadable();
    end = ENTRY.lastIndex;
  }
  const isWhole = END.test(text.slice(end));
  const shape = axes === undefined ? undefined : shapeOf(axes);
  if (!isWhole || descr === undefined || order === undefined || shape === undefined) {
    throw unreadable();
  }
  return { descr, isFortranOrder: order === 'True', shape };
}

/** @param axes `3, 224, 224`, `3,` or empty; Python 2 appended an L to long numbers. */
function shapeOf(axes: string): readonly number[] | undefined {
  const parts = axes.split(',').map((part) => part.trim());
  if (parts.at(-1) === '') parts.pop();
  if (!parts.every((part) => /^\d+L?$/.test(part))) return undefined;
  const shape = parts.map((part) => Number.parseInt(part, 10));
  return shape.every(Number.isSafeInteger) ? shape : undefined;
}

/** Element type of a .npy file. */
export interface NpyType {
  readonly datatype: OipDataType;
  /** Bytes per element in the file. */
  readonly elementBytes: number;
  readonly isBigEndian: boolean;
  /** Storage of texts; undefined for numbers. */
  readonly text?: 'bytes' | 'utf-32';
}

/**
 * Datatype by NumPy's kind and size. NumPy has no BF16: extensions store it as two opaque bytes.
 */
const NUMBERS: Readonly<Record<string, OipDataType>> = {
  b1: 'BOOL',
  u1: 'UINT8',
  u2: 'UINT16',
  u4: 'UINT32',
  u8: 'UINT64',
  i1: 'INT8',
  i2: 'INT16',
  i4: 'INT32',
  i8: 'INT64',
  f2: 'FP16',
  f4: 'FP32',
  f8: 'FP64',
  V2: 'BF16',
};

/** Largest text element in bytes; NumPy's limit is far above it. */
const TEXT_BYTES_MAX: number = 2 ** 30;

/** @returns undefined for a type without a datatype in the protocol. */
export function npyType(descr: string): NpyType | undefined {
  const [, order, kind = '', digits = ''] = /^([<>|])([a-zA-Z])(\d+)$/.exec(descr) ?? [];
  const size = Number(digits);
  const isBigEndian = order === '>';
  const datatype = NUMBERS[`${kind}${size}`];
  if (datatype !== undefined) return { datatype, elementBytes: size, isBigEndian };
  if (kind !== 'S' && kind !== 'U') return undefined;
  const elementBytes = kind === 'U' ? size * 4 : size;
  if (elementBytes > TEXT_BYTES_MAX) return undefined;
  const text = kind === 'U' ? 'utf-32' : 'bytes';
  return { datatype: 'BYTES', elementBytes, isBigEndian, text };
}

/**
 * Floating-point types, widest last: a cast from any type to these changes values only by rounding.
 */
const FLOATS: readonly (OipDataType | undefined)[] = ['FP16', 'FP32', 'FP64'];
const WIDE_FLOATS: readonly OipDataType[] = ['FP32', 'FP64'];

/**
 * How to convert an array to the input's type, in NumPy's terms. Does not advise a cast that could
 * change values (0.5 as an integer is 0).
 * @param from The array's current datatype; undefined if the protocol has no such type.
 */
export function npyRemedy(datatype: OipDataType, from: OipDataType | undefined): string {
  if (datatype === 'BYTES') return "save it as an array of texts (dtype 'S' or 'U')";
  if (datatype === 'BF16') return 'save it as ml_dtypes.bfloat16';
  const name = datatype.toLowerCase().replace('fp', 'float');
  return FLOATS.includes(from) && WIDE_FLOATS.includes(datatype)
    ? `save it as a.astype(np.${name})`
    : `convert it yourself, scaled as the model was trained, and save it as np.${name}`;
}
