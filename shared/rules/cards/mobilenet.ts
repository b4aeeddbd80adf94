import type { BenchmarkCard } from '../rows/benchmark-card.ts';
import { V05_COMPRESSION } from '../rows/compression-row.ts';
import { v05Row } from '../rows/model-row.ts';
import { IMAGENET, IMAGENET_COUNT } from './imagenet.ts';

/** Only round v0.5 has it. Rule: paper of that round, table 1 (98 % of 71.676 %, Server 10 ms). */
export const MOBILENET: BenchmarkCard = {
  ...IMAGENET,
  key: 'mobilenet',
  title: 'image classification of round v0.5: MobileNet v1 1.0 224 on ImageNet 2012',
  models: [
    v05Row('mobilenet', 'mobilenet', IMAGENET_COUNT, { references: { acc: 71.676 }, share: 0.98 }),
  ],
  compression: [V05_COMPRESSION],
};
