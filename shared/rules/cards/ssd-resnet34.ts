import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import { V05_COMPRESSION } from '../rows/compression-row.ts';
import { v05Row } from '../rows/model-row.ts';
import { detectionFacts, STANDIN_OBJECT_SET } from './detection.ts';

/**
 * Only round v0.5 has it. Rule: paper of that round, table 1 and section on quality (99 % of 0.20
 * mAP, Server 100 ms).
 */
export const SSD_RESNET34: BenchmarkCard = {
  ...detectionFacts('ssd-resnet34'),
  title: 'object detection of round v0.5: SSD ResNet34 1200x1200 on COCO 2017',
  models: [v05Row('ssd-large', 'ssd-resnet34', 5000, { references: { mAP: 20 } })],
  compression: [V05_COMPRESSION],
  generated: { standard: STANDIN_OBJECT_SET },
  // A sample of fp32 has 17 MB, and a node takes a 32nd of its queue.
  defaults: { queueBytesMax: 1024 ** 3 },
};
