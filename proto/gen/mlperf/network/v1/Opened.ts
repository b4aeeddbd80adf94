// Original file: proto/mlperf/network/v1/sut.proto

import type { NodeLimits as _mlperf_network_v1_NodeLimits, NodeLimits__Output as _mlperf_network_v1_NodeLimits__Output } from '../../../mlperf/network/v1/NodeLimits.ts';
import type { Credit as _mlperf_network_v1_Credit, Credit__Output as _mlperf_network_v1_Credit__Output } from '../../../mlperf/network/v1/Credit.ts';
import type { CallSeen as _mlperf_network_v1_CallSeen, CallSeen__Output as _mlperf_network_v1_CallSeen__Output } from '../../../mlperf/network/v1/CallSeen.ts';

export interface Opened {
  'protocolVersion'?: (number);
  'nodeName'?: (string);
  'nodeIdentity'?: (string);
  'model'?: (string);
  'encodings'?: (number)[];
  'responseEncodings'?: (number)[];
  'features'?: (string)[];
  'limits'?: (_mlperf_network_v1_NodeLimits | null);
  'credit'?: (_mlperf_network_v1_Credit | null);
  'seen'?: (_mlperf_network_v1_CallSeen | null);
}

export interface Opened__Output {
  'protocolVersion': (number);
  'nodeName': (string);
  'nodeIdentity': (string);
  'model': (string);
  'encodings': (number)[];
  'responseEncodings': (number)[];
  'features': (string)[];
  'limits': (_mlperf_network_v1_NodeLimits__Output | null);
  'credit': (_mlperf_network_v1_Credit__Output | null);
  'seen': (_mlperf_network_v1_CallSeen__Output | null);
}
