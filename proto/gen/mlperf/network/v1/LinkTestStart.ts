// Original file: proto/mlperf/network/v1/sut.proto

import type { LinkTestDirection as _mlperf_network_v1_LinkTestDirection, LinkTestDirection__Output as _mlperf_network_v1_LinkTestDirection__Output } from '../../../mlperf/network/v1/LinkTestDirection.ts';
import type { Long } from '@grpc/proto-loader';

export interface LinkTestStart {
  'direction'?: (_mlperf_network_v1_LinkTestDirection);
  'durationMs'?: (number);
  'bytesMax'?: (number | string | Long);
  'loadBytes'?: (number);
}

export interface LinkTestStart__Output {
  'direction': (_mlperf_network_v1_LinkTestDirection__Output);
  'durationMs': (number);
  'bytesMax': (number);
  'loadBytes': (number);
}
