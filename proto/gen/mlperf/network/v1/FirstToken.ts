// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface FirstToken {
  'id'?: (number | string | Long);
  'payload'?: (Buffer | Uint8Array | string);
}

export interface FirstToken__Output {
  'id': (number);
  'payload': (Buffer);
}
