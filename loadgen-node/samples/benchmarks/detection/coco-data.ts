import {
  COCO_CATEGORY_IDS,
  cocoPlaceOf,
} from '../../../../shared/benchmarks/standin/planted-cells.ts';
import type { DetectionData } from './detection-benchmark.ts';

/** COCO 2017, validation: the data set of the two benchmarks of round v0.5. */
export const COCO_DATA: DetectionData = {
  annotationsFile: 'annotations/instances_val2017.json',
  imageFolder: 'val2017',
  standinName: 'coco-standin',
  categoryIds: COCO_CATEGORY_IDS,
  placeOf: cocoPlaceOf,
  title: 'COCO 2017',
  whole: "COCO's validation set of 2017",
  names: ['coco-2017-val', 'coco-own-data'],
  categoryCount: COCO_CATEGORY_IDS.length,
};
