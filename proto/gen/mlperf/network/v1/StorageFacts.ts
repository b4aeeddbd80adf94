// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface StorageFacts {
  'name'?: (string);
  'kind'?: (string);
  'model'?: (string);
  'bytes'?: (number | string | Long);
}

export interface StorageFacts__Output {
  'name': (string);
  'kind': (string);
  'model': (string);
  'bytes': (number);
}
