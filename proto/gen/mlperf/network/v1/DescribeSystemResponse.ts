// Original file: proto/mlperf/network/v1/sut.proto

import type { SystemFacts as _mlperf_network_v1_SystemFacts, SystemFacts__Output as _mlperf_network_v1_SystemFacts__Output } from '../../../mlperf/network/v1/SystemFacts.ts';
import type { TuningFacts as _mlperf_network_v1_TuningFacts, TuningFacts__Output as _mlperf_network_v1_TuningFacts__Output } from '../../../mlperf/network/v1/TuningFacts.ts';

export interface DescribeSystemResponse {
  'name'?: (string);
  'nodeIdentity'?: (string);
  'gatheredAt'?: (string);
  'facts'?: (_mlperf_network_v1_SystemFacts | null);
  'tuning'?: (_mlperf_network_v1_TuningFacts | null);
}

export interface DescribeSystemResponse__Output {
  'name': (string);
  'nodeIdentity': (string);
  'gatheredAt': (string);
  'facts': (_mlperf_network_v1_SystemFacts__Output | null);
  'tuning': (_mlperf_network_v1_TuningFacts__Output | null);
}
