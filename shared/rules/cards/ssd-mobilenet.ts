import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import { V05_COMPRESSION } from '../rows/compression-row.ts';
import { v05Row } from '../rows/model-row.ts';
import { detectionFacts, STANDIN_OBJECT_SET_LARGE } from './detection.ts';

/**
 * Only round v0.5 has it. Rule: paper of that round, table 1 and section on quality (22.0 mAP
 * itself, Server 10 ms).
 */
export const SSD_MOBILENET: BenchmarkCard = {
  ...detectionFacts('ssd-mobilenet'),
  title: 'object detection of round v0.5: SSD MobileNet v1 300x300 on COCO 2017',
  models: [v05Row('ssd-small', 'ssd-mobilenet', 5000, { bounds: [{ metric: 'mAP', lower: 22 }] })],
  compression: [V05_COMPRESSION],
  generated: { standard: STANDIN_OBJECT_SET_LARGE },
};
