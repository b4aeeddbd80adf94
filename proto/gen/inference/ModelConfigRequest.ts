// Original file: proto/inference/open_inference.proto


export interface ModelConfigRequest {
  'name'?: (string);
  'version'?: (string);
}

export interface ModelConfigRequest__Output {
  'name': (string);
  'version': (string);
}
