import { makeStandinImage } from '../../../../shared/benchmarks/standin/standin-image.ts';
import {
  STANDIN_DRAWING_REVISION,
  STANDIN_JPEG_QUALITY,
} from '../../../../shared/benchmarks/standin/standin-sets.ts';
import type { DrawnData } from '../drawn-data-set.ts';
import { VAL_MAP_FILE } from './val-map.ts';

/**
 * The stand-in's data set: JPEG files of varied size and `val_map.txt`, laid out as ImageNet's validation set is. The
 * classes are 0 to 9 of 1,000.
 */
export const STANDIN_DATA: DrawnData = {
  name: 'imagenet-standin-data-set',
  recipe: ({ seed, imageCount }) => ({
    images: { seed, imageCount },
    drawingRevision: STANDIN_DRAWING_REVISION,
    jpegQuality: STANDIN_JPEG_QUALITY,
  }),
  what: 'images to measure with',
  draw: makeStandinImage,
  imageFolder: '',
  // Eight digits, as in ImageNet's.
  fileName: (index) => `standin_val_${String(index + 1).padStart(8, '0')}.JPEG`,
  listFile: VAL_MAP_FILE,
};
