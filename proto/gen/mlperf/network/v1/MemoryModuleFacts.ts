// Original file: proto/mlperf/network/v1/sut.proto

import type { Long } from '@grpc/proto-loader';

export interface MemoryModuleFacts {
  'slot'?: (string);
  'bytes'?: (number | string | Long);
  'type'?: (string);
  'speedMts'?: (number);
}

export interface MemoryModuleFacts__Output {
  'slot': (string);
  'bytes': (number);
  'type': (string);
  'speedMts': (number);
}
