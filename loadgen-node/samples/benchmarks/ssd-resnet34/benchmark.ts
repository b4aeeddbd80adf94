import { COCO_DATA } from '../detection/coco-data.ts';
import { detectionBenchmark } from '../detection/detection-benchmark.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/**
 * SSD ResNet34 of round v0.5 on the LoadGen node. Labels are category numbers 1 to 80. Source:
 * MLCommons inference, branch r0.5, tools/ci-run.sh: `accuracy-coco.py --use-inv-map` only for this
 * benchmark.
 */
export const benchmark: LoadgenBenchmark = detectionBenchmark('ssd-resnet34', COCO_DATA, {
  useInvMap: true,
  standinMap: 0.745,
});
