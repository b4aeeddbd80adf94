// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface NodeLimits {
  'messageBytesMax'?: (number | string | Long);
  'partBytesMax'?: (number | string | Long);
  'sampleBytesMax'?: (number | string | Long);
  'querySamplesMax'?: (number | string | Long);
  'streamWindowBytes'?: (number | string | Long);
  'connectionWindowBytes'?: (number | string | Long);
}

export interface NodeLimits__Output {
  'messageBytesMax': (number);
  'partBytesMax': (number);
  'sampleBytesMax': (number);
  'querySamplesMax': (number);
  'streamWindowBytes': (number);
  'connectionWindowBytes': (number);
}
