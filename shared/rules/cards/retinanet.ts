import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import { imagesRow } from '../rows/compression-row.ts';
import { SERVER_OFFLINE, SINGLE_MULTI_OFFLINE } from '../rows/model-row.ts';
import { imageBandwidth } from './bandwidth.ts';
import { DETECTION_IMAGE_SIZES, detectionFacts, STANDIN_OBJECT_SET } from './detection.ts';

/**
 * Rule: inference_rules v4.1, table of datacenter benchmarks (QSL size 64, 99 % of FP32 = mAP 37.55
 * %, Server 100 ms).
 */
export const RETINANET: BenchmarkCard = {
  ...detectionFacts('retinanet'),
  title: 'object detection: RetinaNet ResNeXt50 800x800 on Open Images v6',
  models: [
    {
      name: 'retinanet',
      rounds: ['v2.1', 'v6.0'],
      scenarios: { datacenter: SERVER_OFFLINE, edge: SINGLE_MULTI_OFFLINE },
      performanceSamples: 64,
      dataSetSamples: 24_781,
      offlineSamples: 24_576,
      serverLatencyNs: 100_000_000,
      references: { mAP: 37.55 },
      tests: ['TEST01', 'TEST05'],
      since: {
        'v5.0': { tests: ['TEST01'] },
        // The newest checker has this model only for systems of both suites.
        'v6.0': {
          scenarios: {},
          bothSuites: { required: ['SingleStream', 'Offline', 'MultiStream', 'Server'], oneOf: [] },
        },
      },
    },
  ],
  compression: [imagesRow('For the Coco dataset JPEG, for Open Images JPEG')],
  bandwidth: imageBandwidth(DETECTION_IMAGE_SIZES.retinanet),
  generated: { standard: STANDIN_OBJECT_SET },
};
