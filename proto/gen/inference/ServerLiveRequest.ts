// Original file: proto/inference/open_inference.proto


export interface ServerLiveRequest {
}

export interface ServerLiveRequest__Output {
}
