import type { BenchmarkRules } from './benchmark-row.ts';
import { IMAGENET_ENCODINGS, IMAGENET_RESPONSE_TENSOR, IMAGENET_TENSORS } from './imagenet.ts';

/**
 * ResNet-50 v1.5 on ImageNet.
 * Rules: inference_rules v4.1, table of datacenter benchmarks (QSL size 1024, 99 % of FP32 = 76.46 %, Server 15 ms);
 * paper of round v0.5, table 1 (99 % of 76.456 %). Rounds after v5.0 do not have it in the datacenter suite.
 */
export const RESNET50: BenchmarkRules = {
  key: 'resnet50',
  title: 'image classification: ResNet-50 v1.5 on ImageNet 2012',
  isOfficial: true,
  rounds: ['v0.5', 'v4.1', 'v5.0'],
  performanceSampleCount: 1024,
  serverTargetLatencyNs: 15_000_000,
  serverTargetLatencyPercentile: 0.99,
  encodings: IMAGENET_ENCODINGS,
  sampleTensors: IMAGENET_TENSORS,
  responseTensor: IMAGENET_RESPONSE_TENSOR,
  quality: {
    metric: 'top-1',
    target: 0.7646 * 0.99,
    reference: { value: 0.7646, share: 0.99 },
  },
  qualityOfRound: {
    'v0.5': {
      metric: 'top-1',
      target: 0.76456 * 0.99,
      reference: { value: 0.76456, share: 0.99 },
    },
  },
};
