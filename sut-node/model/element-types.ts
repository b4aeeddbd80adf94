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

/** How ONNX Runtime's JavaScript API names an element type, and what memory it wants. */
export interface ElementType {
  readonly runtimeName:
    | 'float32'
    | 'float64'
    | 'float16'
    | 'uint8'
    | 'int8'
    | 'uint16'
    | 'int16'
    | 'uint32'
    | 'int32'
    | 'uint64'
    | 'int64'
    | 'bool';
  readonly bytes: number;
  /** Elements on `count` elements' worth of `buffer`, from `byteOffset`, a multiple of `bytes`. */
  view(buffer: ArrayBuffer, byteOffset: number, count: number): TensorElements;
}

function elementType(
  runtimeName: ElementType['runtimeName'],
  memory: {
    readonly BYTES_PER_ELEMENT: number;
    new (buffer: ArrayBuffer, byteOffset: number, length: number): TensorElements;
  },
): ElementType {
  return {
    runtimeName,
    bytes: memory.BYTES_PER_ELEMENT,
    view: (buffer, byteOffset, count) => new memory(buffer, byteOffset, count),
  };
}

/** Element types of tensors by ONNX's names in lower case: those that have a fixed size. */
export const ELEMENT_TYPES: ReadonlyMap<string, ElementType> = new Map([
  ['float', elementType('float32', Float32Array)],
  ['double', elementType('float64', Float64Array)],
  ['float16', elementType('float16', Uint16Array)],
  ['uint8', elementType('uint8', Uint8Array)],
  ['int8', elementType('int8', Int8Array)],
  ['uint16', elementType('uint16', Uint16Array)],
  ['int16', elementType('int16', Int16Array)],
  ['uint32', elementType('uint32', Uint32Array)],
  ['int32', elementType('int32', Int32Array)],
  ['uint64', elementType('uint64', BigUint64Array)],
  ['int64', elementType('int64', BigInt64Array)],
  ['bool', elementType('bool', Uint8Array)],
]);
