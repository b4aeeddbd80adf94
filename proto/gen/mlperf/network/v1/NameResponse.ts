// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface NameResponse {
  'name'?: (string);
  'nonce'?: (number | string | Long);
  'nodeIdentity'?: (string);
}

export interface NameResponse__Output {
  'name': (string);
  'nonce': (number);
  'nodeIdentity': (string);
}
