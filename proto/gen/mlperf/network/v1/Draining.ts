// Original file: proto/mlperf/network/v1/sut.proto


export interface Draining {
  'reason'?: (string);
}

export interface Draining__Output {
  'reason': (string);
}
