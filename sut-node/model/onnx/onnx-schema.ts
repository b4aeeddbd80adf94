import protobuf from 'protobufjs';

/**
 * The part of the ONNX file format (IR version 8) that this project writes: own text, with the message
 * and field numbers of the ONNX standard. What is left out here (training, functions, sparse tensors)
 * is optional in the standard.
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
export const ELEMENT_TYPE_NUMBERS = { float: 1, uint8: 2, int8: 3, int32: 6, int64: 7 } as const;

/** Numbers of ONNX's attribute types (AttributeProto.AttributeType) that this project uses. */
export const ATTRIBUTE_TYPES = { float: 1, int: 2, string: 3, ints: 7 } as const;

/** An operator's attribute: the field that `type` names is set. */
export interface AttributeProto {
  readonly name: string;
  readonly type: number;
  readonly f?: number;
  readonly i?: number;
  readonly s?: Uint8Array;
  readonly ints?: readonly number[];
}

/** One operator of a graph: reads and writes tensors by name. */
export interface NodeProto {
  readonly name: string;
  readonly op_type: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly attribute: readonly AttributeProto[];
}

/** A constant; `raw_data` holds its elements in row-major order, little-endian. */
export interface TensorProto {
  readonly name: string;
  readonly dims: readonly number[];
  readonly data_type: number;
  readonly raw_data: Uint8Array;
}

/** An input or output of a graph; a `dim_param` is an axis whose length is free; without a shape all is free. */
export interface ValueInfoProto {
  readonly name: string;
  readonly type: {
    readonly tensor_type: {
      readonly elem_type: number;
      readonly shape?: {
        readonly dim: readonly ({ readonly dim_value: number } | { readonly dim_param: string })[];
      };
    };
  };
}

/** A whole model file. */
export interface ModelProto {
  readonly ir_version: number;
  readonly producer_name: string;
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

/** Bytes of an ONNX file. */
export function encodeModel(model: ModelProto): Uint8Array {
  return modelProto.encode({ ...model }).finish();
}
