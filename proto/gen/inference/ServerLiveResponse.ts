// Original file: proto/inference/open_inference.proto


export interface ServerLiveResponse {
  'live'?: (boolean);
}

export interface ServerLiveResponse__Output {
  'live': (boolean);
}
