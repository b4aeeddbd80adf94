// Original file: proto/mlperf/network/v1/sut.proto

import type { Open as _mlperf_network_v1_Open, Open__Output as _mlperf_network_v1_Open__Output } from '../../../mlperf/network/v1/Open.ts';
import type { Part as _mlperf_network_v1_Part, Part__Output as _mlperf_network_v1_Part__Output } from '../../../mlperf/network/v1/Part.ts';
import type { Close as _mlperf_network_v1_Close, Close__Output as _mlperf_network_v1_Close__Output } from '../../../mlperf/network/v1/Close.ts';

export interface LoadGenMessage {
  'open'?: (_mlperf_network_v1_Open | null);
  'part'?: (_mlperf_network_v1_Part | null);
  'close'?: (_mlperf_network_v1_Close | null);
  'message'?: "open"|"part"|"close";
}

export interface LoadGenMessage__Output {
  'open'?: (_mlperf_network_v1_Open__Output | null);
  'part'?: (_mlperf_network_v1_Part__Output | null);
  'close'?: (_mlperf_network_v1_Close__Output | null);
  'message'?: "open"|"part"|"close";
}
