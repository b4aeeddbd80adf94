// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface Sample {
  'id'?: (number | string | Long);
  'payload'?: (Buffer | Uint8Array | string);
  'encoding'?: (number);
  'offset'?: (number | string | Long);
  'total'?: (number | string | Long);
}

export interface Sample__Output {
  'id': (number);
  'payload': (Buffer);
  'encoding': (number);
  'offset': (number);
  'total': (number);
}
