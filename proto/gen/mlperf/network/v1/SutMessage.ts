// Original file: proto/mlperf/network/v1/sut.proto

import type { Opened as _mlperf_network_v1_Opened, Opened__Output as _mlperf_network_v1_Opened__Output } from '../../../mlperf/network/v1/Opened.ts';
import type { Credit as _mlperf_network_v1_Credit, Credit__Output as _mlperf_network_v1_Credit__Output } from '../../../mlperf/network/v1/Credit.ts';
import type { Responses as _mlperf_network_v1_Responses, Responses__Output as _mlperf_network_v1_Responses__Output } from '../../../mlperf/network/v1/Responses.ts';
import type { Draining as _mlperf_network_v1_Draining, Draining__Output as _mlperf_network_v1_Draining__Output } from '../../../mlperf/network/v1/Draining.ts';
import type { NodeUsage as _mlperf_network_v1_NodeUsage, NodeUsage__Output as _mlperf_network_v1_NodeUsage__Output } from '../../../mlperf/network/v1/NodeUsage.ts';

export interface SutMessage {
  'opened'?: (_mlperf_network_v1_Opened | null);
  'credit'?: (_mlperf_network_v1_Credit | null);
  'responses'?: (_mlperf_network_v1_Responses | null);
  'draining'?: (_mlperf_network_v1_Draining | null);
  'usage'?: (_mlperf_network_v1_NodeUsage | null);
  'message'?: "opened"|"credit"|"responses"|"draining"|"usage";
}

export interface SutMessage__Output {
  'opened'?: (_mlperf_network_v1_Opened__Output | null);
  'credit'?: (_mlperf_network_v1_Credit__Output | null);
  'responses'?: (_mlperf_network_v1_Responses__Output | null);
  'draining'?: (_mlperf_network_v1_Draining__Output | null);
  'usage'?: (_mlperf_network_v1_NodeUsage__Output | null);
  'message'?: "opened"|"credit"|"responses"|"draining"|"usage";
}
