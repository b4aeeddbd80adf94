import { OBJECT_KINDS } from '../../../shared/benchmarks/standin/planted-cells.ts';
import { DETECTION_IMAGE_SIZES } from '../../../shared/rules/cards/detection.ts';
import type { StepwisePipeline } from '../../model/model-facts.ts';
import { detectionSutBenchmark } from '../detection/detection-benchmark.ts';
import { type SingleImageForm, singleImagePipeline } from '../detection/single-images.ts';
import type { DetectionStandin } from '../detection/standin.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

/**
 * Source: MLCommons inference, vision/classification_and_detection/python: `retinanet-onnxruntime`
 * and `openimages-800-retinanet-onnx` in main.py, `PostProcessOpenImagesRetinanet` in
 * openimages.py.
 */
const FORM: SingleImageForm = {
  inputName: 'images',
  layouts: ['nchw'],
  labelTypes: ['int64', 'int32'],
  boxes: 'boxes',
  scores: 'scores',
  labels: 'labels',
  isTopFirst: false,
  scoreMin: 0.05,
  side: DETECTION_IMAGE_SIZES.retinanet,
};

/**
 * Operations of RetinaNet ResNeXt50 on an image, by its layers: backbone 109, pyramid 20, heads 273
 * GFLOP. @internal
 */
export const RETINANET_STANDIN: DetectionStandin = {
  benchmark: 'retinanet',
  original: 'RetinaNet ResNeXt50 800x800',
  flops: 402e9,
  costDefault: 0.01,
  inputName: FORM.inputName,
  outputs: FORM,
  labels: BigInt64Array.from({ length: OBJECT_KINDS }, (_, kind) => BigInt(kind)),
  hasImageAxis: false,
};

/** RetinaNet on the SUT node. */
export const benchmark: SutBenchmark<StepwisePipeline> = detectionSutBenchmark(RETINANET_STANDIN, {
  reference: {
    howToGet: 'the reference is resnext50_32x4d_fpn.onnx of Zenodo record 6617879 (opset 13)',
    // MD5 is what MLCommons publishes of it (mlcommons/mlperf-automations,
    // script/get-ml-model-retinanet).
    files: [{ algorithm: 'md5', digest: '4544f4e56e0a4684215831cc937ea45c' }],
  },
  openPipeline: (model, usage) => singleImagePipeline('retinanet', [FORM], model, usage),
});
