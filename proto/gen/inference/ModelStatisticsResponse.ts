// Original file: proto/inference/open_inference.proto

import type { ModelStatistics as _inference_ModelStatistics, ModelStatistics__Output as _inference_ModelStatistics__Output } from '../inference/ModelStatistics.ts';

export interface ModelStatisticsResponse {
  'modelStats'?: (_inference_ModelStatistics)[];
}

export interface ModelStatisticsResponse__Output {
  'modelStats': (_inference_ModelStatistics__Output)[];
}
