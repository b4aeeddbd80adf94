import { cocoPlaceOf, OBJECT_KINDS } from '../../../shared/benchmarks/standin/planted-cells.ts';
import type { StepwisePipeline } from '../../model/model-facts.ts';
import { detectionSutBenchmark } from '../detection/detection-benchmark.ts';
import { type SingleImageForm, singleImagePipeline } from '../detection/single-images.ts';
import type { DetectionStandin } from '../detection/standin.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

/**
 * Source: MLCommons inference, branch r0.5, v0.5/classification_and_detection/python:
 * `ssd-resnet34-onnxruntime` in main.py, `PostProcessCocoOnnx` in coco.py, whose comment has
 * another order of the corners than its code.
 */
const FORM: SingleImageForm = {
  inputName: 'image',
  layouts: ['nchw'],
  labelTypes: ['int64', 'int32'],
  boxes: 'bboxes',
  scores: 'scores',
  labels: 'labels',
  isTopFirst: false,
  side: 1,
  scoreMin: 0.5,
};

/**
 * Models that were TensorFlow's. Source: the same, `ssd-resnet34-onnxruntime-tf`,
 * `PostProcessCocoTf`.
 */
const TENSORFLOW_FORM: SingleImageForm = {
  inputName: 'image:0',
  // The profile has the first one, that of TensorFlow itself the second one: the file tells.
  layouts: ['nhwc', 'nchw'],
  labelTypes: ['float', 'int64', 'int32'],
  boxes: 'detection_bboxes:0',
  scores: 'detection_scores:0',
  labels: 'detection_classes:0',
  isTopFirst: true,
  side: 1,
  scoreMin: 0.05,
};

/** Operations: paper of round v0.5, table 1. @internal */
export const SSD_RESNET34_STANDIN: DetectionStandin = {
  benchmark: 'ssd-resnet34',
  original: 'SSD ResNet34 1200x1200',
  flops: 433e9,
  costDefault: 0.01,
  inputName: FORM.inputName,
  outputs: FORM,
  // Counted from 1.
  labels: BigInt64Array.from({ length: OBJECT_KINDS }, (_, kind) => BigInt(cocoPlaceOf(kind) + 1)),
  hasImageAxis: true,
};

/**
 * SSD ResNet34 of round v0.5 on the SUT node. Labels count the classes from 1: the scorer maps
 * them.
 */
export const benchmark: SutBenchmark<StepwisePipeline> = detectionSutBenchmark(
  SSD_RESNET34_STANDIN,
  {
    reference: {
      howToGet:
        'the reference is resnet34-ssd1200.onnx of Zenodo record 3228411 (opset 8), or ssd_resnet34_mAP_20.2.onnx of 4735664 ' +
        "(opset 11, converted from TensorFlow's)",
      // MLCommons publishes no checksum of them, so a run with them is marked as one whose weights
      // are unknown.
      files: [],
    },
    openPipeline: (model, usage) =>
      singleImagePipeline('ssd-resnet34', [FORM, TENSORFLOW_FORM], model, usage),
  },
);
