// Original file: proto/inference/open_inference.proto


export interface ServerMetadataRequest {
}

export interface ServerMetadataRequest__Output {
}
