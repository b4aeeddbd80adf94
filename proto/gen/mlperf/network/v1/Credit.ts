// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface Credit {
  'samples'?: (number | string | Long);
  'bytes'?: (number | string | Long);
}

export interface Credit__Output {
  'samples': (number);
  'bytes': (number);
}
