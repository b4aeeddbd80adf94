import {
  benchmark,
  INPUT_NAME,
  LABEL_OUTPUT_NAME,
  SAMPLE_SHAPE,
} from '../../../sut-node/benchmarks/digits/benchmark.ts';
import type { ModelPipeline, OpenedModel } from '../../../sut-node/model/model-facts.ts';

/** What ONNX Runtime tells of the model of digits. */
export const DIGITS_MODEL: OpenedModel = {
  file: 'digits.onnx',
  inputs: [{ name: INPUT_NAME, elementType: 'float', shape: [0, ...SAMPLE_SHAPE] }],
  outputs: [{ name: LABEL_OUTPUT_NAME, elementType: 'int64', shape: [0] }],
};

/** Pre- and post-processing of digits, without a session. */
export function digitsPipeline(): ModelPipeline {
  return benchmark.openPipeline(DIGITS_MODEL, {});
}
