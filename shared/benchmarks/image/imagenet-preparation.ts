/** `vgg`: minus the mean of each channel. `mobilenet`: from 0..255 to -1..1. */
export type ImagenetNormalisation = 'vgg' | 'mobilenet';

/** `area`: the mean of the covered pixels. `linear`: between the two nearest pixels of each axis. */
export type ImagenetInterpolation = 'area' | 'linear';

/** What a benchmark's reference does with an image before its model. */
export interface ImagenetPreparation {
  readonly normalisation: ImagenetNormalisation;
  readonly interpolation: ImagenetInterpolation;
}

/**
 * By benchmark.
 * Source: MLCommons inference, vision/classification_and_detection/python/dataset.py, `pre_process_vgg` and
 * `pre_process_mobilenet`; the cut (short side 256, centre 224) is the same in both.
 */
export const IMAGENET_PREPARATIONS: Readonly<
  Record<'resnet50' | 'mobilenet', ImagenetPreparation>
> = {
  resnet50: { normalisation: 'vgg', interpolation: 'area' },
  mobilenet: { normalisation: 'mobilenet', interpolation: 'linear' },
};
