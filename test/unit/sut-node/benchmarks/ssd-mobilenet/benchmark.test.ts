import { describe, expect, it } from 'vitest';
import { detectionElements } from '../../../../../shared/rules/cards/detection.ts';
import { benchmark } from '../../../../../sut-node/benchmarks/ssd-mobilenet/benchmark.ts';
import type { OutputTensor } from '../../../../../sut-node/model/model-facts.ts';

// Goal: payloads are the official model's input, each row of its outputs becomes the bytes that the
// accuracy script reads, and what does not fit is named. Method: a model that is described, outputs
// worked out by hand.

const MODEL = {
  file: 'net.onnx',
  inputs: [{ name: 'image_tensor:0', elementType: 'uint8', shape: [-1, -1, -1, 3] }],
  outputs: [
    'num_detections:0',
    'detection_boxes:0',
    'detection_scores:0',
    'detection_classes:0',
  ].map((name) => ({ name, elementType: 'float', shape: [] })),
};
const ELEMENTS = detectionElements('ssd-mobilenet');

/** Two images of up to two detections. */
function outputs(): Map<string, OutputTensor> {
  const tensor = (...values: number[]) => ({ data: Float32Array.from(values), dims: [2] });
  return new Map([
    ['num_detections:0', tensor(2, 1)],
    [
      'detection_boxes:0',
      tensor(...[0, 0.25, 0.5, 0.75, 0, 0, 1, 1, 0.125, 0.25, 0.375, 0.5, 9, 9, 9, 9]),
    ],
    ['detection_scores:0', tensor(0.75, 0.0078125, 0.5, 0.25)],
    ['detection_classes:0', tensor(90, 1, 3, 4)],
  ]);
}

describe('ssd-mobilenet', () => {
  const pipeline = benchmark.openPipeline(MODEL, {});
  const numbers = (row: number) => {
    const response = pipeline.postprocess(outputs(), row);
    return [...new Float32Array(response.buffer, response.byteOffset, response.length / 4)];
  };

  it('answers each image with the detections that the model counts, however low their scores', () => {
    expect(numbers(0)).toEqual([0, 0, 0.25, 0.5, 0.75, 0.75, 90, 0, 0, 0, 1, 1, 0.0078125, 1]);
    expect(numbers(1)).toEqual([0, 0.125, 0.25, 0.375, 0.5, 0.5, 3]);
  });

  it('feeds bytes as they are, and resizes files', async () => {
    expect(pipeline.tensorForms).toEqual(['uint8']);
    const target = new Uint8Array(ELEMENTS);
    await pipeline.preprocess(new Uint8Array(ELEMENTS).fill(7), 'uint8', [target]);
    expect(new Set(target)).toEqual(new Set([7]));
    const { payload, form } = pipeline.warmUpPayload();
    await pipeline.preprocess(payload, form, [target]);
    expect(new Set(target)).toEqual(new Set([128]));
  });

  it('names a payload that is none', async () => {
    const target = [new Uint8Array(ELEMENTS)];
    await expect(pipeline.preprocess(new Uint8Array(9), 'uint8', target)).rejects.toThrow(
      /has 270000 bytes; this payload has 9/,
    );
    await expect(pipeline.preprocess(Uint8Array.of(1, 2, 3), 'jpeg', target)).rejects.toThrow(
      /not a JPEG image/,
    );
  });

  it.each([
    ['floats', { inputs: [{ ...MODEL.inputs[0], elementType: 'float' }] }, /image_tensor:0: uint8/],
    ['planes', { inputs: [{ ...MODEL.inputs[0], shape: [1, 3, 300, 300] }] }, /300, 300, 3\]/],
    ['no counts', { outputs: MODEL.outputs.slice(1) }, /expected output num_detections:0/],
  ])('refuses a model with %s', (_, change, message) => {
    const model = { ...MODEL, ...change } as typeof MODEL;
    expect(() => benchmark.openPipeline(model, {})).toThrow(message);
  });
});
