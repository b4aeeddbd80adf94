import type { OipDataType } from '../../../../shared/domain/data-types.ts';

/** What the elements of a .npy file are. */
export interface NpyType {
  readonly datatype: OipDataType;
  /** Bytes of an element in the file. */
  readonly elementBytes: number;
  readonly isBigEndian: boolean;
  /** How texts are stored; undefined: the elements are numbers. */
  readonly text?: 'bytes' | 'utf-32';
}

/** NumPy's kind and size of numbers. NumPy itself has no BF16: what others add to it is stored as two bytes without a meaning. */
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

/** What `astype` is given for a datatype; undefined: NumPy has no such type, or text is asked for. */
const NUMPY_NAMES: Partial<Readonly<Record<OipDataType, string>>> = {
  BOOL: 'bool',
  UINT8: 'uint8',
  UINT16: 'uint16',
  UINT32: 'uint32',
  UINT64: 'uint64',
  INT8: 'int8',
  INT16: 'int16',
  INT32: 'int32',
  INT64: 'int64',
  FP16: 'float16',
  FP32: 'float32',
  FP64: 'float64',
};

/** NumPy's limit of one element is far above it. */
const TEXT_BYTES_MAX: number = 2 ** 30;

/** @returns undefined for a type that the protocol has no datatype for. */
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

/** Floating point, the wide ones last: from any of them to these no value becomes another one than by rounding. */
const FLOATS: readonly (OipDataType | undefined)[] = ['FP16', 'FP32', 'FP64'];
const WIDE_FLOATS: readonly OipDataType[] = ['FP32', 'FP64'];

/**
 * How an array becomes one that the input takes, in NumPy's words. A cast that could change values (0.5 as a whole number is 0)
 * is not advised.
 * @param from What the array has now; undefined: nothing that the protocol knows.
 */
export function npyRemedy(datatype: OipDataType, from: OipDataType | undefined): string {
  const name = NUMPY_NAMES[datatype];
  if (name !== undefined) {
    return FLOATS.includes(from) && WIDE_FLOATS.includes(datatype)
      ? `save it as a.astype(np.${name})`
      : `convert it yourself, scaled as the model was trained, and save it as np.${name}`;
  }
  if (datatype === 'BYTES') return "save it as an array of texts (dtype 'S' or 'U')";
  return 'save it as ml_dtypes.bfloat16';
}
