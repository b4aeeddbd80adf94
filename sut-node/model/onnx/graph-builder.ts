import assert from 'node:assert';
import protobuf from 'protobufjs';

/**
 * The part of the ONNX file format (IR version 8) that this project writes, in our own words, with
 * the message and field numbers of the ONNX standard. The missing parts (training, functions,
 * sparse tensors) are optional in the standard.
 */
const SCHEMA = `
  syntax = "proto3";
  package onnx;

  message AttributeProto {
    string name = 1;
    float f = 2;
    int64 i = 3;
    bytes s = 4;
    repeated int64 ints = 8;
    int32 type = 20;
  }
  message NodeProto {
    repeated string input = 1;
    repeated string output = 2;
    string name = 3;
    string op_type = 4;
    repeated AttributeProto attribute = 5;
    string domain = 7;
  }
  message TensorProto {
    repeated int64 dims = 1;
    int32 data_type = 2;
    string name = 8;
    bytes raw_data = 9;
  }
  message TensorShapeProto {
    message Dimension {
      oneof value {
        int64 dim_value = 1;
        string dim_param = 2;
      }
    }
    repeated Dimension dim = 1;
  }
  message TypeProto {
    message Tensor {
      int32 elem_type = 1;
      TensorShapeProto shape = 2;
    }
    Tensor tensor_type = 1;
  }
  message ValueInfoProto {
    string name = 1;
    TypeProto type = 2;
  }
  message GraphProto {
    repeated NodeProto node = 1;
    string name = 2;
    repeated TensorProto initializer = 5;
    repeated ValueInfoProto input = 11;
    repeated ValueInfoProto output = 12;
  }
  message OperatorSetIdProto {
    string domain = 1;
    int64 version = 2;
  }
  message StringStringEntryProto {
    string key = 1;
    string value = 2;
  }
  message ModelProto {
    int64 ir_version = 1;
    string producer_name = 2;
    string producer_version = 3;
    string doc_string = 6;
    GraphProto graph = 7;
    repeated OperatorSetIdProto opset_import = 8;
    repeated StringStringEntryProto metadata_props = 14;
  }
`;

const modelProto: protobuf.Type = protobuf
  .parse(SCHEMA, { keepCase: true })
  .root.lookupType('onnx.ModelProto');

/** Numbers of ONNX's element types (TensorProto.DataType) that this project uses. */
const ELEMENT_TYPE_NUMBERS = {
  float: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  float16: 10,
} as const;

/** Numbers of ONNX's attribute types (AttributeProto.AttributeType) that this project uses. */
const ATTRIBUTE_TYPES = { float: 1, int: 2, string: 3, ints: 7 } as const;

/**
 * Versions of the file format and of the operators that this project writes: old enough for all
 * servers of recent years, new enough for LayerNormalization.
 */
const IR_VERSION = 8;
const OPSET_VERSION = 17;

/** Name of a tensor in a graph. */
export type TensorName = string;

/** Value of an operator's attribute; a float is wrapped because 1 may be either kind of number. */
type AttributeValue = number | string | readonly number[] | { readonly float: number };

/** Elements of a constant; the class of the array decides the element type. */
export type ConstantValues = Float32Array | Uint8Array | Int8Array | Int32Array | BigInt64Array;

/** A tensor, or a constant in its place: a float without axes, or an array of one axis. */
export type GraphInput = TensorName | number | ConstantValues;

type ElementTypeName = keyof typeof ELEMENT_TYPE_NUMBERS;

/** Length of an axis, or the name of a free axis, such as the batch axis. */
type GraphAxis = number | string;

/**
 * Builds an ONNX model operator by operator. Tensors are numbered in the order of the calls, so the
 * same calls make the same bytes.
 */
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
  input(name: TensorName, elementType: ElementTypeName, shape: readonly GraphAxis[]): string {
    this.#inputs.push(describeTensor(name, elementType, shape));
    return name;
  }

  /** Declares that tensor `name` is an output of the model. */
  output(name: TensorName, elementType: ElementTypeName, shape: readonly GraphAxis[]): void {
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
    inputs: readonly GraphInput[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
    outputName?: TensorName,
  ): TensorName {
    const output = outputName ?? `${operatorType}_${this.#nodes.length}_output`;
    this.operatorOf(operatorType, inputs, attributes, [output]);
    return output;
  }

  /**
   * Adds an operator of several outputs. Outputs and inputs with an empty name are omitted.
   */
  operatorOf(
    operatorType: string,
    inputs: readonly GraphInput[],
    attributes: Readonly<Record<string, AttributeValue>>,
    outputs: readonly TensorName[],
  ): void {
    const name = `${operatorType}_${this.#nodes.length}`;
    const names = inputs.map((input) => {
      if (typeof input === 'string') return input;
      if (typeof input === 'number') return this.constant([], Float32Array.of(input));
      return this.constant([input.length], input);
    });
    const node = toOperator(name, operatorType, names, attributes, '');
    this.#nodes.push({ ...node, output: [...outputs] });
  }

  /**
   * Bytes of the model file.
   * @param description For people who open the file: what the model is.
   * @param properties Key-value pairs that tools can read.
   */
  build(description: string, properties: Readonly<Record<string, string>> = {}): Uint8Array {
    return encodeModel(this.toModel(description, properties));
  }

  /**
   * The model before it becomes bytes, for code that rewrites graphs. Parameters as in
   * {@link build}.
   */
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

/** Integers in the type that ONNX requires for axes, shapes and indices. */
export function integers(...values: readonly number[]): BigInt64Array {
  return BigInt64Array.from(values, BigInt);
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

/** An input or output of a graph. @param shape Undefined: all axes are free. */
export function describeTensor(
  name: TensorName,
  elementType: ElementTypeName,
  shape?: readonly GraphAxis[],
): ValueInfoProto {
  const dim = shape?.map((axis) =>
    typeof axis === 'string' ? { dim_param: axis } : { dim_value: axis },
  );
  const elementNumber: number = ELEMENT_TYPE_NUMBERS[elementType];
  return {
    name,
    type: {
      tensor_type: { elem_type: elementNumber, ...(dim === undefined ? {} : { shape: { dim } }) },
    },
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

/** A whole model file, before it becomes bytes. */
export interface ModelProto {
  readonly ir_version: number;
  readonly producer_name: string;
  /** For people: what the model is. */
  readonly doc_string: string;
  readonly opset_import: readonly { readonly domain: string; readonly version: number }[];
  readonly metadata_props: readonly { readonly key: string; readonly value: string }[];
  readonly graph: {
    readonly name: string;
    readonly node: readonly NodeProto[];
    readonly initializer: readonly TensorProto[];
    readonly input: readonly ValueInfoProto[];
    readonly output: readonly ValueInfoProto[];
  };
}

/** An input or output of a graph. */
interface ValueInfoProto {
  readonly name: string;
  readonly type: {
    readonly tensor_type: {
      readonly elem_type: number;
      /** Absent: all axes are free. */
      readonly shape?: {
        readonly dim: readonly ({ readonly dim_param: string } | { readonly dim_value: number })[];
      };
    };
  };
}

/** An operator of a graph: reads and writes tensors by name. */
export interface NodeProto {
  readonly name: string;
  readonly op_type: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly attribute: readonly AttributeProto[];
}

/** A value of an operator; the field that `type` names is set. */
interface AttributeProto {
  readonly name: string;
  readonly type: number;
  readonly i?: number;
  readonly f?: number;
  readonly s?: Uint8Array;
  readonly ints?: readonly number[];
}

/** A constant; `raw_data` holds its elements in row-major order, little-endian. */
export interface TensorProto {
  readonly name: string;
  readonly dims: readonly number[];
  readonly data_type: number;
  readonly raw_data: Uint8Array;
}

/** Operators and outputs to add to the graph of another file. */
interface GraphPart {
  readonly graph: Pick<ModelProto['graph'], 'node' | 'output'> &
    Partial<Pick<ModelProto['graph'], 'input'>>;
}

/**
 * Bytes of an ONNX file. The bytes of a part, appended to those of a file, add to the graph of the
 * file, because protobuf joins such messages.
 */
export function encodeModel(model: ModelProto | GraphPart): Uint8Array {
  return modelProto.encode({ ...model }).finish();
}

/** The graph of any ONNX file, as far as the schema above has it. @throws Error where it is none */
export function decodeGraph(bytes: Uint8Array): GraphPart['graph'] {
  return (modelProto.decode(bytes) as unknown as GraphPart).graph;
}
