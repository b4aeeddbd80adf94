import type { ModelPipeline } from '../../model/model-facts.ts';
import { imagenetSutBenchmark } from '../imagenet/imagenet-benchmark.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

/** MobileNet v1 1.0 224, of round v0.5, on the SUT node. */
export const benchmark: SutBenchmark<ModelPipeline> = imagenetSutBenchmark(
  'mobilenet',
  'imagenet-mobilenet',
  {
    howToGet:
      'the reference is mobilenet_v1_1.0_224.onnx of Zenodo record 4735651 (opset 11) or 3157894 (opset 8), 17 MB each',
    // MLCommons publishes no checksum of them, so a run with them is marked as one whose weights
    // are unknown.
    files: [],
  },
);
