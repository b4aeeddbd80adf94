// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface NameRequest {
  'nonce'?: (number | string | Long);
}

export interface NameRequest__Output {
  'nonce': (number);
}
