import { OBJECT_KINDS } from '../../../../shared/benchmarks/standin/planted-cells.ts';
import { detectionBenchmark } from '../detection/detection-benchmark.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/**
 * Object detection on Open Images v6, on the LoadGen node; labels are ids of categories.
 * Source of the counts: MLCommons inference, tools/openimages_mlperf.sh.
 */
export const benchmark: LoadgenBenchmark = detectionBenchmark(
  'retinanet',
  {
    annotationsFile: 'annotations/openimages-mlperf.json',
    imageFolder: 'validation/data',
    standinName: 'openimages-standin',
    categoryIds: Array.from({ length: OBJECT_KINDS }, (_, kind) => kind),
    placeOf: (kind) => kind,
    title: 'Open Images',
    whole: "MLPerf's part of Open Images v6",
    names: ['openimages-v6-mlperf', 'openimages-own-data'],
    categoryCount: 264,
  },
  { useInvMap: false, standinMap: 0.7436 },
);
