import assert from 'node:assert';
import {
  ATTRIBUTE_TYPES,
  type AttributeProto,
  ELEMENT_TYPE_NUMBERS,
  encodeModel,
  type ModelProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from './onnx-schema.ts';

/**
 * Version of the file format and of the operators that this project writes: old enough for every
 * server of the last years, new enough for LayerNormalization.
 */
const IR_VERSION = 8;
const OPSET_VERSION = 17;

/** Name of a tensor in a graph. */
export type TensorName = string;

/** Value of an operator's attribute; a float is wrapped because 1 may be either kind of number. */
export type AttributeValue = number | string | readonly number[] | { readonly float: number };

/** Elements of a constant; the kind of array says the element type. */
export type ConstantValues = Float32Array | Uint8Array | Int8Array | Int32Array | BigInt64Array;

/** Length of an axis, or the name of one that is free, such as the batch axis. */
export type GraphAxis = number | string;

/** Builds an ONNX model operator by operator. Tensors get names in the order of their making, so the same calls make the same bytes. */
export class GraphBuilder {
  readonly #name: string;
  readonly #nodes: NodeProto[] = [];
  readonly #constants: TensorProto[] = [];
  readonly #inputs: ValueInfoProto[] = [];
  readonly #outputs: ValueInfoProto[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  /** Declares an input of the model. */
  input(
    name: TensorName,
    elementType: keyof typeof ELEMENT_TYPE_NUMBERS,
    shape: readonly GraphAxis[],
  ): string {
    this.#inputs.push(describeTensor(name, elementType, shape));
    return name;
  }

  /** Declares that tensor `name` is an output of the model. */
  output(
    name: TensorName,
    elementType: keyof typeof ELEMENT_TYPE_NUMBERS,
    shape: readonly GraphAxis[],
  ): void {
    this.#outputs.push(describeTensor(name, elementType, shape));
  }

  /** Adds a constant; `values` in row-major order, kept as they are until {@link build}. */
  constant(shape: readonly number[], values: ConstantValues): TensorName {
    const constant = toConstant(`constant_${this.#constants.length}`, shape, values);
    this.#constants.push(constant);
    return constant.name;
  }

  /**
   * Adds an operator of one output and returns that output.
   * @param outputName Name for a tensor that becomes an output of the model; undefined: any.
   */
  operator(
    operatorType: string,
    inputs: readonly TensorName[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
    outputName?: TensorName,
  ): TensorName {
    const name = `${operatorType}_${this.#nodes.length}`;
    const output = outputName ?? `${name}_output`;
    this.#nodes.push(toOperator(name, operatorType, inputs, attributes, output));
    return output;
  }

  /**
   * Bytes of the model file.
   * @param description For people who open the file: what the model is.
   * @param properties Key-value pairs that tools can read.
   */
  build(description: string, properties: Readonly<Record<string, string>> = {}): Uint8Array {
    return encodeModel(this.toModel(description, properties));
  }

  /** The model before it becomes bytes, for what rewrites graphs. Parameters as in {@link build}. */
  toModel(description: string, properties: Readonly<Record<string, string>> = {}): ModelProto {
    return {
      ir_version: IR_VERSION,
      producer_name: 'longhaul',
      doc_string: description,
      opset_import: [{ domain: '', version: OPSET_VERSION }],
      metadata_props: Object.entries(properties).map(([key, value]) => ({ key, value })),
      graph: {
        name: this.#name,
        node: this.#nodes,
        initializer: this.#constants,
        input: this.#inputs,
        output: this.#outputs,
      },
    };
  }
}

/**
 * A constant of a graph.
 * @param values In row-major order; kept, not copied.
 */
export function toConstant(
  name: TensorName,
  shape: readonly number[],
  values: ConstantValues,
): TensorProto {
  assert.equal(
    values.length,
    shape.reduce((a, b) => a * b, 1),
    `${name}: as many values as [${shape.join(', ')}] has`,
  );
  return {
    name,
    dims: shape,
    data_type: elementTypeOf(values),
    raw_data: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
  };
}

/** An operator of one output. */
export function toOperator(
  name: string,
  operatorType: string,
  inputs: readonly TensorName[],
  attributes: Readonly<Record<string, AttributeValue>>,
  output: TensorName,
): NodeProto {
  return {
    name,
    op_type: operatorType,
    input: inputs,
    output: [output],
    attribute: Object.entries(attributes).map(([key, value]) => toAttribute(key, value)),
  };
}

function elementTypeOf(values: ConstantValues): number {
  if (values instanceof Float32Array) return ELEMENT_TYPE_NUMBERS.float;
  if (values instanceof Uint8Array) return ELEMENT_TYPE_NUMBERS.uint8;
  if (values instanceof Int8Array) return ELEMENT_TYPE_NUMBERS.int8;
  if (values instanceof Int32Array) return ELEMENT_TYPE_NUMBERS.int32;
  return ELEMENT_TYPE_NUMBERS.int64;
}

function describeTensor(
  name: TensorName,
  elementType: keyof typeof ELEMENT_TYPE_NUMBERS,
  shape: readonly GraphAxis[],
): ValueInfoProto {
  const dim = shape.map((axis) =>
    typeof axis === 'string' ? { dim_param: axis } : { dim_value: axis },
  );
  return {
    name,
    type: { tensor_type: { elem_type: ELEMENT_TYPE_NUMBERS[elementType], shape: { dim } } },
  };
}

function toAttribute(name: string, value: AttributeValue): AttributeProto {
  if (typeof value === 'number') {
    assert(Number.isInteger(value), `${name}: a float attribute is written as { float: ${value} }`);
    return { name, type: ATTRIBUTE_TYPES.int, i: value };
  }
  if (typeof value === 'string') {
    return { name, type: ATTRIBUTE_TYPES.string, s: new TextEncoder().encode(value) };
  }
  if ('float' in value) return { name, type: ATTRIBUTE_TYPES.float, f: value.float };
  return { name, type: ATTRIBUTE_TYPES.ints, ints: value };
}
