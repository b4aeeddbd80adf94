// Original file: proto/inference/open_inference.proto


export interface ModelTransactionPolicy {
  'decoupled'?: (boolean);
}

export interface ModelTransactionPolicy__Output {
  'decoupled': (boolean);
}
