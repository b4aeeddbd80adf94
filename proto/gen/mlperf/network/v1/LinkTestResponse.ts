// Original file: proto/mlperf/network/v1/sut.proto

import type { LinkTestStarted as _mlperf_network_v1_LinkTestStarted, LinkTestStarted__Output as _mlperf_network_v1_LinkTestStarted__Output } from '../../../mlperf/network/v1/LinkTestStarted.ts';
import type { LinkTestResult as _mlperf_network_v1_LinkTestResult, LinkTestResult__Output as _mlperf_network_v1_LinkTestResult__Output } from '../../../mlperf/network/v1/LinkTestResult.ts';

export interface LinkTestResponse {
  'started'?: (_mlperf_network_v1_LinkTestStarted | null);
  'load'?: (Buffer | Uint8Array | string);
  'result'?: (_mlperf_network_v1_LinkTestResult | null);
  'message'?: "started"|"load"|"result";
}

export interface LinkTestResponse__Output {
  'started'?: (_mlperf_network_v1_LinkTestStarted__Output | null);
  'load'?: (Buffer);
  'result'?: (_mlperf_network_v1_LinkTestResult__Output | null);
  'message'?: "started"|"load"|"result";
}
