// Original file: proto/inference/open_inference.proto


export interface ModelStatisticsRequest {
  'name'?: (string);
  'version'?: (string);
}

export interface ModelStatisticsRequest__Output {
  'name': (string);
  'version': (string);
}
