// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface LinkTestStarted {
  'durationMs'?: (number);
  'bytesMax'?: (number | string | Long);
  'loadBytes'?: (number);
}

export interface LinkTestStarted__Output {
  'durationMs': (number);
  'bytesMax': (number);
  'loadBytes': (number);
}
