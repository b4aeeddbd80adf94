// Original file: proto/mlperf/network/v1/sut.proto


export interface ComponentVersion {
  'name'?: (string);
  'version'?: (string);
}

export interface ComponentVersion__Output {
  'name': (string);
  'version': (string);
}
