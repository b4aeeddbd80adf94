import { COCO_DATA } from '../detection/coco-data.ts';
import { detectionBenchmark } from '../detection/detection-benchmark.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/** SSD MobileNet v1 of round v0.5 on the LoadGen node; labels are COCO category ids. */
export const benchmark: LoadgenBenchmark = detectionBenchmark('ssd-mobilenet', COCO_DATA, {
  useInvMap: false,
  standinMap: 0.6815,
});
