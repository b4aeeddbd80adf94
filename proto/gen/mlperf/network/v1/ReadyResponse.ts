// Original file: proto/mlperf/network/v1/sut.proto

import type { NodeState as _mlperf_network_v1_NodeState, NodeState__Output as _mlperf_network_v1_NodeState__Output } from '../../../mlperf/network/v1/NodeState.ts';

export interface ReadyResponse {
  'ready'?: (boolean);
  'state'?: (_mlperf_network_v1_NodeState);
  'detail'?: (string);
}

export interface ReadyResponse__Output {
  'ready': (boolean);
  'state': (_mlperf_network_v1_NodeState__Output);
  'detail': (string);
}
