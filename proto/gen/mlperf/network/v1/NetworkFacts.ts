// Original file: proto/mlperf/network/v1/sut.proto

import type { NicFacts as _mlperf_network_v1_NicFacts, NicFacts__Output as _mlperf_network_v1_NicFacts__Output } from '../../../mlperf/network/v1/NicFacts.ts';

export interface NetworkFacts {
  'congestionControl'?: (string);
  'interfaces'?: (_mlperf_network_v1_NicFacts)[];
}

export interface NetworkFacts__Output {
  'congestionControl': (string);
  'interfaces': (_mlperf_network_v1_NicFacts__Output)[];
}
