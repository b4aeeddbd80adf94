// Original file: proto/inference/open_inference.proto

import type { ModelTransactionPolicy as _inference_ModelTransactionPolicy, ModelTransactionPolicy__Output as _inference_ModelTransactionPolicy__Output } from '../inference/ModelTransactionPolicy.ts';

export interface ModelConfig {
  'name'?: (string);
  'platform'?: (string);
  'maxBatchSize'?: (number);
  'modelTransactionPolicy'?: (_inference_ModelTransactionPolicy | null);
}

export interface ModelConfig__Output {
  'name': (string);
  'platform': (string);
  'maxBatchSize': (number);
  'modelTransactionPolicy': (_inference_ModelTransactionPolicy__Output | null);
}
