// Original file: proto/mlperf/network/v1/sut.proto


export interface HeaderSeen {
  'name'?: (string);
  'value'?: (string);
}

export interface HeaderSeen__Output {
  'name': (string);
  'value': (string);
}
