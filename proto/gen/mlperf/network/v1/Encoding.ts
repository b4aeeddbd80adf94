// Original file: proto/mlperf/network/v1/sut.proto


export interface Encoding {
  'form'?: (string);
  'compression'?: (string);
}

export interface Encoding__Output {
  'form': (string);
  'compression': (string);
}
