// Original file: proto/mlperf/network/v1/sut.proto


export interface ReadyRequest {
  'benchmark'?: (string);
  'model'?: (string);
}

export interface ReadyRequest__Output {
  'benchmark': (string);
  'model': (string);
}
