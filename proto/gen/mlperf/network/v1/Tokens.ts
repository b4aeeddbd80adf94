// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface Tokens {
  'id'?: (number | string | Long);
  'payload'?: (Buffer | Uint8Array | string);
}

export interface Tokens__Output {
  'id': (number);
  'payload': (Buffer);
}
