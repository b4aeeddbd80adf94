// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface LinkTestResult {
  'bytes'?: (number | string | Long);
  'durationNs'?: (number | string | Long);
  'laterBytes'?: (number | string | Long);
  'laterDurationNs'?: (number | string | Long);
  'busyShare'?: (number | string);
}

export interface LinkTestResult__Output {
  'bytes': (number);
  'durationNs': (number);
  'laterBytes': (number);
  'laterDurationNs': (number);
  'busyShare': (number);
}
