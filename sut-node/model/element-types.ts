/** Memory of a tensor's elements; float16 lies in 16-bit numbers as IEEE 754 says. */
export type TensorElements =
  | Float32Array
  | Float64Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigUint64Array
  | BigInt64Array;

interface Memory {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, byteOffset: number, length: number): TensorElements;
}

/** ONNX's name in lower case → the name in ONNX Runtime's JavaScript API, and the memory that it wants. */
const ROWS = {
  float: ['float32', Float32Array],
  double: ['float64', Float64Array],
  float16: ['float16', Uint16Array],
  uint8: ['uint8', Uint8Array],
  int8: ['int8', Int8Array],
  uint16: ['uint16', Uint16Array],
  int16: ['int16', Int16Array],
  uint32: ['uint32', Uint32Array],
  int32: ['int32', Int32Array],
  uint64: ['uint64', BigUint64Array],
  int64: ['int64', BigInt64Array],
  bool: ['bool', Uint8Array],
} as const satisfies Record<string, readonly [string, Memory]>;

function elementType([runtimeName, memory]: (typeof ROWS)[keyof typeof ROWS]) {
  const Elements: Memory = memory;
  return {
    runtimeName,
    bytes: memory.BYTES_PER_ELEMENT,
    /** Elements on `count` elements' worth of `buffer`, from `byteOffset`, a multiple of `bytes`. */
    view: (buffer: ArrayBuffer, byteOffset: number, count: number): TensorElements =>
      new Elements(buffer, byteOffset, count),
  };
}

export type ElementType = ReturnType<typeof elementType>;

/** Element types of tensors by ONNX's names in lower case: those that have a fixed size. */
export const ELEMENT_TYPES: ReadonlyMap<string, ElementType> = new Map(
  Object.entries(ROWS).map(([name, row]) => [name, elementType(row)]),
);
