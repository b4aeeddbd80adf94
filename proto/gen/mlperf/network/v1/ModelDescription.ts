// Original file: proto/mlperf/network/v1/sut.proto

import type { TensorDescription as _mlperf_network_v1_TensorDescription, TensorDescription__Output as _mlperf_network_v1_TensorDescription__Output } from '../../../mlperf/network/v1/TensorDescription.ts';
import type { Encoding as _mlperf_network_v1_Encoding, Encoding__Output as _mlperf_network_v1_Encoding__Output } from '../../../mlperf/network/v1/Encoding.ts';

export interface ModelDescription {
  'benchmark'?: (string);
  'model'?: (string);
  'sha256'?: (string);
  'inputs'?: (_mlperf_network_v1_TensorDescription)[];
  'outputs'?: (_mlperf_network_v1_TensorDescription)[];
  'encodings'?: (_mlperf_network_v1_Encoding)[];
  'responseEncodings'?: (_mlperf_network_v1_Encoding)[];
  'isStandIn'?: (boolean);
}

export interface ModelDescription__Output {
  'benchmark': (string);
  'model': (string);
  'sha256': (string);
  'inputs': (_mlperf_network_v1_TensorDescription__Output)[];
  'outputs': (_mlperf_network_v1_TensorDescription__Output)[];
  'encodings': (_mlperf_network_v1_Encoding__Output)[];
  'responseEncodings': (_mlperf_network_v1_Encoding__Output)[];
  'isStandIn': (boolean);
}
