// Original file: proto/mlperf/network/v1/sut.proto

import type { FirstToken as _mlperf_network_v1_FirstToken, FirstToken__Output as _mlperf_network_v1_FirstToken__Output } from '../../../mlperf/network/v1/FirstToken.ts';
import type { Completed as _mlperf_network_v1_Completed, Completed__Output as _mlperf_network_v1_Completed__Output } from '../../../mlperf/network/v1/Completed.ts';
import type { Failed as _mlperf_network_v1_Failed, Failed__Output as _mlperf_network_v1_Failed__Output } from '../../../mlperf/network/v1/Failed.ts';
import type { Tokens as _mlperf_network_v1_Tokens, Tokens__Output as _mlperf_network_v1_Tokens__Output } from '../../../mlperf/network/v1/Tokens.ts';

export interface Responses {
  'firstTokens'?: (_mlperf_network_v1_FirstToken)[];
  'completed'?: (_mlperf_network_v1_Completed)[];
  'failed'?: (_mlperf_network_v1_Failed)[];
  'tokens'?: (_mlperf_network_v1_Tokens)[];
}

export interface Responses__Output {
  'firstTokens': (_mlperf_network_v1_FirstToken__Output)[];
  'completed': (_mlperf_network_v1_Completed__Output)[];
  'failed': (_mlperf_network_v1_Failed__Output)[];
  'tokens': (_mlperf_network_v1_Tokens__Output)[];
}
