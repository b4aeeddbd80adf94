// Original file: proto/mlperf/network/v1/sut.proto

import type { SystemFacts as _mlperf_network_v1_SystemFacts, SystemFacts__Output as _mlperf_network_v1_SystemFacts__Output } from '../../../mlperf/network/v1/SystemFacts.ts';

export interface DescribeSystemResponse {
  'name'?: (string);
  'nodeIdentity'?: (string);
  'gatheredAt'?: (string);
  'facts'?: (_mlperf_network_v1_SystemFacts | null);
}

export interface DescribeSystemResponse__Output {
  'name': (string);
  'nodeIdentity': (string);
  'gatheredAt': (string);
  'facts': (_mlperf_network_v1_SystemFacts__Output | null);
}
