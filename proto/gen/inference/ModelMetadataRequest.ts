// Original file: proto/inference/open_inference.proto


export interface ModelMetadataRequest {
  'name'?: (string);
  'version'?: (string);
}

export interface ModelMetadataRequest__Output {
  'name': (string);
  'version': (string);
}
