// Original file: proto/mlperf/network/v1/sut.proto

import type { MemoryModuleFacts as _mlperf_network_v1_MemoryModuleFacts, MemoryModuleFacts__Output as _mlperf_network_v1_MemoryModuleFacts__Output } from '../../../mlperf/network/v1/MemoryModuleFacts.ts';
import type { EccFacts as _mlperf_network_v1_EccFacts, EccFacts__Output as _mlperf_network_v1_EccFacts__Output } from '../../../mlperf/network/v1/EccFacts.ts';
import type { Long } from '@grpc/proto-loader';

export interface MemoryFacts {
  'totalBytes'?: (number | string | Long);
  'modules'?: (_mlperf_network_v1_MemoryModuleFacts)[];
  'modulesHow'?: (string);
  'ecc'?: (_mlperf_network_v1_EccFacts | null);
}

export interface MemoryFacts__Output {
  'totalBytes': (number);
  'modules': (_mlperf_network_v1_MemoryModuleFacts__Output)[];
  'modulesHow': (string);
  'ecc': (_mlperf_network_v1_EccFacts__Output | null);
}
