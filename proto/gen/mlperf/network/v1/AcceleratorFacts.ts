// Original file: proto/mlperf/network/v1/sut.proto

import type { EccFacts as _mlperf_network_v1_EccFacts, EccFacts__Output as _mlperf_network_v1_EccFacts__Output } from '../../../mlperf/network/v1/EccFacts.ts';
import type { Long } from '@grpc/proto-loader';

export interface AcceleratorFacts {
  'model'?: (string);
  'memoryBytes'?: (number | string | Long);
  'ecc'?: (_mlperf_network_v1_EccFacts | null);
  'maxMhz'?: (number | string);
  'hostInterconnect'?: (string);
  'driver'?: (string);
  'how'?: (string);
}

export interface AcceleratorFacts__Output {
  'model': (string);
  'memoryBytes': (number);
  'ecc': (_mlperf_network_v1_EccFacts__Output | null);
  'maxMhz': (number);
  'hostInterconnect': (string);
  'driver': (string);
  'how': (string);
}
