// Original file: proto/mlperf/network/v1/sut.proto

import type { EnclosureFacts as _mlperf_network_v1_EnclosureFacts, EnclosureFacts__Output as _mlperf_network_v1_EnclosureFacts__Output } from '../../../mlperf/network/v1/EnclosureFacts.ts';
import type { ProcessorFacts as _mlperf_network_v1_ProcessorFacts, ProcessorFacts__Output as _mlperf_network_v1_ProcessorFacts__Output } from '../../../mlperf/network/v1/ProcessorFacts.ts';
import type { MemoryFacts as _mlperf_network_v1_MemoryFacts, MemoryFacts__Output as _mlperf_network_v1_MemoryFacts__Output } from '../../../mlperf/network/v1/MemoryFacts.ts';
import type { StorageFacts as _mlperf_network_v1_StorageFacts, StorageFacts__Output as _mlperf_network_v1_StorageFacts__Output } from '../../../mlperf/network/v1/StorageFacts.ts';
import type { AcceleratorFacts as _mlperf_network_v1_AcceleratorFacts, AcceleratorFacts__Output as _mlperf_network_v1_AcceleratorFacts__Output } from '../../../mlperf/network/v1/AcceleratorFacts.ts';
import type { SoftwareFacts as _mlperf_network_v1_SoftwareFacts, SoftwareFacts__Output as _mlperf_network_v1_SoftwareFacts__Output } from '../../../mlperf/network/v1/SoftwareFacts.ts';
import type { NetworkFacts as _mlperf_network_v1_NetworkFacts, NetworkFacts__Output as _mlperf_network_v1_NetworkFacts__Output } from '../../../mlperf/network/v1/NetworkFacts.ts';

export interface SystemFacts {
  'hostname'?: (string);
  'bootId'?: (string);
  'enclosure'?: (_mlperf_network_v1_EnclosureFacts | null);
  'processor'?: (_mlperf_network_v1_ProcessorFacts | null);
  'memory'?: (_mlperf_network_v1_MemoryFacts | null);
  'storage'?: (_mlperf_network_v1_StorageFacts)[];
  'accelerators'?: (_mlperf_network_v1_AcceleratorFacts)[];
  'software'?: (_mlperf_network_v1_SoftwareFacts | null);
  'network'?: (_mlperf_network_v1_NetworkFacts | null);
  'acceleratorsHow'?: (string);
}

export interface SystemFacts__Output {
  'hostname': (string);
  'bootId': (string);
  'enclosure': (_mlperf_network_v1_EnclosureFacts__Output | null);
  'processor': (_mlperf_network_v1_ProcessorFacts__Output | null);
  'memory': (_mlperf_network_v1_MemoryFacts__Output | null);
  'storage': (_mlperf_network_v1_StorageFacts__Output)[];
  'accelerators': (_mlperf_network_v1_AcceleratorFacts__Output)[];
  'software': (_mlperf_network_v1_SoftwareFacts__Output | null);
  'network': (_mlperf_network_v1_NetworkFacts__Output | null);
  'acceleratorsHow': (string);
}
