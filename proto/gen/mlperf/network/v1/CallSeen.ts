// Original file: proto/mlperf/network/v1/sut.proto

import type { HeaderSeen as _mlperf_network_v1_HeaderSeen, HeaderSeen__Output as _mlperf_network_v1_HeaderSeen__Output } from '../../../mlperf/network/v1/HeaderSeen.ts';

export interface CallSeen {
  'peerAddress'?: (string);
  'peerPort'?: (number);
  'nodeAddress'?: (string);
  'nodePort'?: (number);
  'headers'?: (_mlperf_network_v1_HeaderSeen)[];
  'headersLeftOut'?: (number);
}

export interface CallSeen__Output {
  'peerAddress': (string);
  'peerPort': (number);
  'nodeAddress': (string);
  'nodePort': (number);
  'headers': (_mlperf_network_v1_HeaderSeen__Output)[];
  'headersLeftOut': (number);
}
