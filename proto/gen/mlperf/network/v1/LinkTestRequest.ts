// Original file: proto/mlperf/network/v1/sut.proto

import type { LinkTestStart as _mlperf_network_v1_LinkTestStart, LinkTestStart__Output as _mlperf_network_v1_LinkTestStart__Output } from '../../../mlperf/network/v1/LinkTestStart.ts';

export interface LinkTestRequest {
  'start'?: (_mlperf_network_v1_LinkTestStart | null);
  'load'?: (Buffer | Uint8Array | string);
  'message'?: "start"|"load";
}

export interface LinkTestRequest__Output {
  'start'?: (_mlperf_network_v1_LinkTestStart__Output | null);
  'load'?: (Buffer);
  'message'?: "start"|"load";
}
