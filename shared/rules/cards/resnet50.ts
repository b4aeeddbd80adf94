import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import { imagesRow, V05_COMPRESSION } from '../rows/compression-row.ts';
import { SERVER_OFFLINE, SINGLE_MULTI_OFFLINE, v05Row } from '../rows/model-row.ts';
import { imageBandwidth } from './bandwidth.ts';
import { IMAGENET, IMAGENET_COUNT, IMAGENET_IMAGE_SIZE } from './imagenet.ts';

/**
 * Rules: inference_rules v4.1, table of datacenter benchmarks (QSL size 1024, 99 % of FP32 = 76.46
 * %, Server 15 ms); paper of round v0.5, table 1 (99 % of 76.456 %). Rounds after v5.0 do not have
 * it in the datacenter suite.
 */
export const RESNET50: BenchmarkCard = {
  ...IMAGENET,
  key: 'resnet50',
  title: 'image classification: ResNet-50 v1.5 on ImageNet 2012',
  models: [
    v05Row('resnet', 'resnet50', IMAGENET_COUNT, { references: { acc: 76.456 } }),
    {
      name: 'resnet',
      folder: 'resnet50',
      benchmark: 'resnet50',
      rounds: ['v2.1', 'v6.1'],
      scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_MULTI_OFFLINE },
      performanceSamples: 1024,
      dataSetSamples: IMAGENET_COUNT,
      offlineSamples: 24_576,
      serverLatencyNs: 15_000_000,
      references: { acc: 76.46 },
      tests: ['TEST01', 'TEST04', 'TEST05'],
      since: {
        'v5.0': { tests: ['TEST01', 'TEST04'] },
        'v5.1': {
          scenarios: { edge: SINGLE_MULTI_OFFLINE },
          bothSuites: { required: ['SingleStream', 'MultiStream', 'Offline', 'Server'], oneOf: [] },
        },
      },
    },
  ],
  compression: [imagesRow('JPEG'), V05_COMPRESSION],
  bandwidth: imageBandwidth(IMAGENET_IMAGE_SIZE),
};
