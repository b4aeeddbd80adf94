// Original file: proto/inference/open_inference.proto


export interface ModelReadyResponse {
  'ready'?: (boolean);
}

export interface ModelReadyResponse__Output {
  'ready': (boolean);
}
