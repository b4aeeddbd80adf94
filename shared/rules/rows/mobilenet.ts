import type { BenchmarkRules } from './benchmark-row.ts';
import { IMAGENET_ENCODINGS, IMAGENET_RESPONSE_TENSOR, IMAGENET_TENSORS } from './imagenet.ts';

/**
 * MobileNet v1 on ImageNet: a benchmark of round v0.5 only.
 * Rule: paper of round v0.5, table 1 (98 % of 71.676 %, Server 10 ms).
 */
export const MOBILENET: BenchmarkRules = {
  key: 'mobilenet',
  title: 'image classification of round v0.5: MobileNet v1 1.0 224 on ImageNet 2012',
  isOfficial: true,
  rounds: ['v0.5'],
  performanceSampleCount: 1024,
  serverTargetLatencyNs: 10_000_000,
  serverTargetLatencyPercentile: 0.99,
  encodings: IMAGENET_ENCODINGS,
  sampleTensors: IMAGENET_TENSORS,
  responseTensor: IMAGENET_RESPONSE_TENSOR,
  quality: {
    metric: 'top-1',
    target: 0.71676 * 0.98,
    reference: { value: 0.71676, share: 0.98 },
  },
};
