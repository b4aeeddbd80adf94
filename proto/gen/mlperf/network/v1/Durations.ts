// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface Durations {
  'receiveNs'?: (number | string | Long);
  'queueNs'?: (number | string | Long);
  'batchWaitNs'?: (number | string | Long);
  'preprocessNs'?: (number | string | Long);
  'computeNs'?: (number | string | Long);
  'postprocessNs'?: (number | string | Long);
  'sendNs'?: (number | string | Long);
}

export interface Durations__Output {
  'receiveNs': (number);
  'queueNs': (number);
  'batchWaitNs': (number);
  'preprocessNs': (number);
  'computeNs': (number);
  'postprocessNs': (number);
  'sendNs': (number);
}
