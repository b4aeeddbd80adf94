import type { ModelPipeline } from '../../model/model-facts.ts';
import { imagenetSutBenchmark } from '../imagenet/imagenet-benchmark.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

/** ResNet-50 v1.5 on the SUT node. */
export const benchmark: SutBenchmark<ModelPipeline> = imagenetSutBenchmark(
  'resnet50',
  'imagenet-vgg',
  {
    howToGet:
      'the reference is resnet50_v1.onnx of Zenodo record 4735647 (opset 11) or 2592612 (opset 8), 102 MB each',
    // MD5 is what MLCommons publishes of them (mlcommons/mlperf-automations,
    // script/get-ml-model-resnet50).
    files: [
      { algorithm: 'md5', digest: 'f6a4da60cd5f084d97efc2c1ddb10beb' },
      { algorithm: 'md5', digest: 'a638cf028b5870da29e09ccc2f7182e7' },
    ],
  },
);
