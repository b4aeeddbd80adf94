// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface CacheFacts {
  'name'?: (string);
  'bytes'?: (number | string | Long);
  'count'?: (number);
  'sharedByThreads'?: (number);
}

export interface CacheFacts__Output {
  'name': (string);
  'bytes': (number);
  'count': (number);
  'sharedByThreads': (number);
}
