/**
 * Datatypes of the Open Inference Protocol and the bytes of one element in raw contents; 0 for BYTES, whose elements
 * are of any length (4 bytes of length, little-endian, before each).
 * Source: Open Inference Protocol, "Tensor Data Types"; BF16 is Triton's addition.
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

/** One of them, as it stands in a request. */
export type OipDataType = keyof typeof OIP_ELEMENT_BYTES;

/** True for a datatype of the protocol. */
export function isOipDataType(text: string): text is OipDataType {
  return Object.hasOwn(OIP_ELEMENT_BYTES, text);
}

/** Datatypes that typed contents have no list for: they travel raw, or not at all. */
export const RAW_ONLY_DATA_TYPES: readonly OipDataType[] = ['FP16', 'BF16'];
