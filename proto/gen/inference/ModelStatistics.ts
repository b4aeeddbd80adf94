// Original file: proto/inference/open_inference.proto

import type { InferStatistics as _inference_InferStatistics, InferStatistics__Output as _inference_InferStatistics__Output } from '../inference/InferStatistics.ts';
import type { Long } from '@grpc/proto-loader';

export interface ModelStatistics {
  'name'?: (string);
  'version'?: (string);
  'lastInference'?: (number | string | Long);
  'inferenceCount'?: (number | string | Long);
  'executionCount'?: (number | string | Long);
  'inferenceStats'?: (_inference_InferStatistics | null);
}

export interface ModelStatistics__Output {
  'name': (string);
  'version': (string);
  'lastInference': (number);
  'inferenceCount': (number);
  'executionCount': (number);
  'inferenceStats': (_inference_InferStatistics__Output | null);
}
