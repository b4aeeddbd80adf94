// Original file: proto/inference/open_inference.proto


export interface ModelReadyRequest {
  'name'?: (string);
  'version'?: (string);
}

export interface ModelReadyRequest__Output {
  'name': (string);
  'version': (string);
}
