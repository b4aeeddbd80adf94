// Original file: proto/mlperf/network/v1/sut.proto

import type { FailureCode as _mlperf_network_v1_FailureCode, FailureCode__Output as _mlperf_network_v1_FailureCode__Output } from '../../../mlperf/network/v1/FailureCode.ts';
import type { Long } from '@grpc/proto-loader';

export interface Failed {
  'id'?: (number | string | Long);
  'code'?: (_mlperf_network_v1_FailureCode);
  'text'?: (string);
}

export interface Failed__Output {
  'id': (number);
  'code': (_mlperf_network_v1_FailureCode__Output);
  'text': (string);
}
