// Original file: proto/mlperf/network/v1/sut.proto


export interface LedgerRequest {
  'runId'?: (string);
}

export interface LedgerRequest__Output {
  'runId': (string);
}
