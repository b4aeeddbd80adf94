// Original file: proto/inference/open_inference.proto


export interface ServerReadyRequest {
}

export interface ServerReadyRequest__Output {
}
