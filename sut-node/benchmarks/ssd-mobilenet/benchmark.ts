import { readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { detectionBytes } from '../../../shared/benchmarks/image/detection.ts';
import {
  COCO_CATEGORY_IDS,
  cocoPlaceOf,
  OBJECT_KINDS,
} from '../../../shared/benchmarks/standin/planted-cells.ts';
import { DETECTION_IMAGE_SIZES } from '../../../shared/rules/cards/detection.ts';
import type { ModelPipeline, ModelUsage, OpenedModel } from '../../model/model-facts.ts';
import { GREY_JPEG } from '../../pipeline/imagenet-preprocessor.ts';
import { checkModelFits, refuseUsage } from '../../pipeline/model-fit.ts';
import { tensorPreprocessor } from '../../pipeline/tensor-preprocessor.ts';
import { detectionSutBenchmark } from '../detection/detection-benchmark.ts';
import { type DetectionOutputs, detectionsOf } from '../detection/detections.ts';
import type { DetectionStandin } from '../detection/standin.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

const SIDE = DETECTION_IMAGE_SIZES['ssd-mobilenet'];

const INPUT = { name: 'image_tensor:0', elementType: 'uint8', sampleShape: [SIDE, SIDE, 3] };

/** Number of detections of each image; the rest is padding. */
const COUNTS = 'num_detections:0';

/**
 * Source: MLCommons inference, branch r0.5, v0.5/classification_and_detection/python:
 * `ssd-mobilenet-onnxruntime` in main.py, `PostProcessCoco` in coco.py, which has no threshold.
 */
const OUTPUTS: DetectionOutputs = {
  boxes: 'detection_boxes:0',
  scores: 'detection_scores:0',
  labels: 'detection_classes:0',
  isTopFirst: true,
  side: 1,
  scoreMin: Number.NEGATIVE_INFINITY,
};

/** Operations: paper of round v0.5, table 1. @internal */
export const SSD_MOBILENET_STANDIN: DetectionStandin = {
  benchmark: 'ssd-mobilenet',
  original: 'SSD MobileNet v1 300x300',
  flops: 2.47e9,
  costDefault: 1,
  inputName: INPUT.name,
  outputs: OUTPUTS,
  counts: COUNTS,
  labels: Float32Array.from(
    { length: OBJECT_KINDS },
    (_, kind) => COCO_CATEGORY_IDS[cocoPlaceOf(kind)] as number, // It has as many.
  ),
  hasImageAxis: true,
};

/**
 * SSD MobileNet v1 of round v0.5 on the SUT node, in batches. Labels are COCO's ids. The response
 * is the detections (7 float32 each, shared/rules/cards/detection.ts); none is an empty response.
 */
export const benchmark: SutBenchmark<ModelPipeline> = detectionSutBenchmark(SSD_MOBILENET_STANDIN, {
  reference: {
    howToGet:
      'the reference is ssd_mobilenet_v1_coco_2018_01_28.onnx of Zenodo record 4735652 (opset 11) or 3163026 (opset 8)',
    // MLCommons publishes no checksum of them, so a run with them is marked as one whose weights
    // are unknown.
    files: [],
  },
  openPipeline,
});

function openPipeline(model: OpenedModel, usage: ModelUsage): ModelPipeline {
  const what = 'the benchmark ssd-mobilenet';
  refuseUsage(usage, what);
  const inputs = [INPUT];
  const outputNames = [COUNTS, OUTPUTS.boxes, OUTPUTS.scores, OUTPUTS.labels];
  checkModelFits(model, what, { inputs, outputNames });
  const tensor = tensorPreprocessor(inputs, ['uint8']);
  return {
    ...tensor,
    inputs,
    outputNames,
    isOwnResponse: true,
    forms: ['uint8', 'jpeg'],
    preprocess: async (payload, form, targets) => {
      if (form !== 'jpeg') return tensor.preprocess(payload, form, targets);
      (targets[0] as Uint8Array).set(await detectionBytes(readInPlace(payload), 'ssd-mobilenet'));
    },
    postprocess: (outputs, row) => {
      const counts = outputs.get(COUNTS)?.data ?? [];
      const countMax = Number(counts[row] ?? 0);
      return detectionsOf(outputs, OUTPUTS, { row, rowCount: counts.length, countMax });
    },
    warmUpPayload: () => ({ form: 'jpeg', payload: GREY_JPEG }),
  };
}
