/** A tensor of a model as its server describes it. */
export interface OipTensor {
  readonly name: string;
  readonly datatype: OipDataType;
  /** Axis lengths; -1: any length. */
  readonly shape: readonly number[];
}

/** One sample as an unnamed tensor: a benchmark's payload or response. */
export interface SampleTensor {
  readonly datatype: OipDataType;
  /** Axis lengths of one sample, without a batch axis; -1: any length. */
  readonly shape: readonly number[];
}

/** Number of elements of a shape with known lengths. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** True if known lengths match a shape; its free axes (-1) match any length. */
export function fitsShape(lengths: readonly number[], shape: readonly number[]): boolean {
  return (
    lengths.length === shape.length &&
    lengths.every((length, axis) => shape[axis] === -1 || shape[axis] === length)
  );
}

/** A tensor for people: `FP32 [-1, 3, 224, 224]`. */
export function tensorText({ datatype, shape }: SampleTensor): string {
  return `${datatype} [${shape.join(', ')}]`;
}

/** Tensors with their names: `image FP32 [-1, 3, 224, 224], mask BOOL [-1]`. */
export function tensorsText(tensors: readonly OipTensor[]): string {
  if (tensors.length === 0) return 'none';
  return tensors.map((tensor) => `${tensor.name} ${tensorText(tensor)}`).join(', ');
}

/**
 * Datatypes of the Open Inference Protocol, with the bytes of one element in raw contents; 0 for
 * BYTES, whose elements vary (4 bytes of length, little-endian, before each). Source: Open
 * Inference Protocol, "Tensor Data Types"; BF16 is Triton's addition.
 */
export const OIP_ELEMENT_BYTES = {
  BOOL: 1,
  UINT8: 1,
  UINT16: 2,
  UINT32: 4,
  UINT64: 8,
  INT8: 1,
  INT16: 2,
  INT32: 4,
  INT64: 8,
  FP16: 2,
  BF16: 2,
  FP32: 4,
  FP64: 8,
  BYTES: 0,
} as const;

/** ONNX element types in lower case → the protocol's datatypes. */
export const DATATYPE_OF_ONNX: Readonly<Record<string, OipDataType>> = {
  float: 'FP32',
  double: 'FP64',
  float16: 'FP16',
  uint8: 'UINT8',
  int8: 'INT8',
  uint16: 'UINT16',
  int16: 'INT16',
  uint32: 'UINT32',
  int32: 'INT32',
  uint64: 'UINT64',
  int64: 'INT64',
  bool: 'BOOL',
};

/** A datatype, as in a request. */
export type OipDataType = keyof typeof OIP_ELEMENT_BYTES;

/** True for a datatype of the protocol. */
export function isOipDataType(text: string): text is OipDataType {
  return Object.hasOwn(OIP_ELEMENT_BYTES, text);
}

/** Datatypes without a list in typed contents: they are sent raw only. */
export const RAW_ONLY_DATA_TYPES: readonly OipDataType[] = ['FP16', 'BF16'];

/** One input of one sample. */
export interface NamedTensor {
  readonly name: string;
  readonly datatype: OipDataType;
  /** Axis lengths of this sample, all known, without the batch axis. */
  readonly shape: readonly number[];
  /**
   * Raw contents in the protocol's form: row-major, little-endian; BYTES with a length before each
   * element.
   */
  readonly raw: Uint8Array;
}

/** A model input, for comparison with samples. */
export interface WantedTensor extends OipTensor {
  /** Text after a message about a sample of another shape. Default: none. */
  readonly shapeHint?: string | undefined;
}

/** Raw contents of all inputs of a sample, concatenated; uncopied for a single input. */
export function joinedContents(tensors: readonly NamedTensor[]): Uint8Array {
  const [first] = tensors;
  if (first !== undefined && tensors.length === 1) return first.raw;
  return Buffer.concat(tensors.map(({ raw }) => raw));
}

/** Raw bytes of one sample of an input; undefined for texts, and if an axis is free. */
export function sampleBytes({ datatype, shape }: OipTensor): number | undefined {
  if (datatype === 'BYTES' || shape.includes(-1)) return undefined;
  return elementCount(shape) * OIP_ELEMENT_BYTES[datatype];
}
