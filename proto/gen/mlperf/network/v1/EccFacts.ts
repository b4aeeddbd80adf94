// Original file: proto/mlperf/network/v1/sut.proto


export interface EccFacts {
  'state'?: (string);
  'how'?: (string);
}

export interface EccFacts__Output {
  'state': (string);
  'how': (string);
}
