// Original file: proto/mlperf/network/v1/sut.proto

import type { Durations as _mlperf_network_v1_Durations, Durations__Output as _mlperf_network_v1_Durations__Output } from '../../../mlperf/network/v1/Durations.ts';
import type { Long } from '@grpc/proto-loader';

export interface Completed {
  'id'?: (number | string | Long);
  'payload'?: (Buffer | Uint8Array | string);
  'encoding'?: (number);
  'tokenCount'?: (number | string | Long);
  'durations'?: (_mlperf_network_v1_Durations | null);
  'offset'?: (number | string | Long);
  'total'?: (number | string | Long);
  '_tokenCount'?: "tokenCount";
}

export interface Completed__Output {
  'id': (number);
  'payload': (Buffer);
  'encoding': (number);
  'tokenCount'?: (number);
  'durations': (_mlperf_network_v1_Durations__Output | null);
  'offset': (number);
  'total': (number);
  '_tokenCount'?: "tokenCount";
}
