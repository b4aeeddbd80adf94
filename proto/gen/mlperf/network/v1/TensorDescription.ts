// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface TensorDescription {
  'name'?: (string);
  'elementType'?: (string);
  'shape'?: (number | string | Long)[];
  'emptyAxes'?: (number)[];
}

export interface TensorDescription__Output {
  'name': (string);
  'elementType': (string);
  'shape': (number)[];
  'emptyAxes': (number)[];
}
