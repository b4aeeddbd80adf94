// Original file: proto/mlperf/network/v1/sut.proto

import type { CallSeen as _mlperf_network_v1_CallSeen, CallSeen__Output as _mlperf_network_v1_CallSeen__Output } from '../../../mlperf/network/v1/CallSeen.ts';
import type { Long } from '@grpc/proto-loader';

export interface NameResponse {
  'name'?: (string);
  'nonce'?: (number | string | Long);
  'nodeIdentity'?: (string);
  'seen'?: (_mlperf_network_v1_CallSeen | null);
}

export interface NameResponse__Output {
  'name': (string);
  'nonce': (number);
  'nodeIdentity': (string);
  'seen': (_mlperf_network_v1_CallSeen__Output | null);
}
