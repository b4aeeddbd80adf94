// Original file: proto/mlperf/network/v1/sut.proto

import type { CacheFacts as _mlperf_network_v1_CacheFacts, CacheFacts__Output as _mlperf_network_v1_CacheFacts__Output } from '../../../mlperf/network/v1/CacheFacts.ts';

export interface ProcessorFacts {
  'model'?: (string);
  'architecture'?: (string);
  'sockets'?: (number);
  'cores'?: (number);
  'threads'?: (number);
  'numaNodes'?: (number);
  'baseMhz'?: (number | string);
  'maxMhz'?: (number | string);
  'frequencyHow'?: (string);
  'caches'?: (_mlperf_network_v1_CacheFacts)[];
}

export interface ProcessorFacts__Output {
  'model': (string);
  'architecture': (string);
  'sockets': (number);
  'cores': (number);
  'threads': (number);
  'numaNodes': (number);
  'baseMhz': (number);
  'maxMhz': (number);
  'frequencyHow': (string);
  'caches': (_mlperf_network_v1_CacheFacts__Output)[];
}
