// Original file: proto/mlperf/network/v1/sut.proto

import type { Division as _mlperf_network_v1_Division, Division__Output as _mlperf_network_v1_Division__Output } from '../../../mlperf/network/v1/Division.ts';
import type { Encoding as _mlperf_network_v1_Encoding, Encoding__Output as _mlperf_network_v1_Encoding__Output } from '../../../mlperf/network/v1/Encoding.ts';

export interface Open {
  'protocolVersion'?: (number);
  'runId'?: (string);
  'benchmark'?: (string);
  'model'?: (string);
  'division'?: (_mlperf_network_v1_Division);
  'encodings'?: (_mlperf_network_v1_Encoding)[];
  'responseEncodings'?: (_mlperf_network_v1_Encoding)[];
  'features'?: (string)[];
  'digestPerMillion'?: (number);
  'streamIndex'?: (number);
  'tokenLatencies'?: (boolean);
}

export interface Open__Output {
  'protocolVersion': (number);
  'runId': (string);
  'benchmark': (string);
  'model': (string);
  'division': (_mlperf_network_v1_Division__Output);
  'encodings': (_mlperf_network_v1_Encoding__Output)[];
  'responseEncodings': (_mlperf_network_v1_Encoding__Output)[];
  'features': (string)[];
  'digestPerMillion': (number);
  'streamIndex': (number);
  'tokenLatencies': (boolean);
}
