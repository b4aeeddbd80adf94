// Original file: proto/inference/open_inference.proto


export interface ServerReadyResponse {
  'ready'?: (boolean);
}

export interface ServerReadyResponse__Output {
  'ready': (boolean);
}
