import { describe, expect, it } from 'vitest';
import { detectionElements } from '../../../../../shared/rules/cards/detection.ts';
import { detectionsOf } from '../../../../../sut-node/benchmarks/detection/detections.ts';
import { benchmark } from '../../../../../sut-node/benchmarks/retinanet/benchmark.ts';
import { benchmark as ssdResnet34 } from '../../../../../sut-node/benchmarks/ssd-resnet34/benchmark.ts';
import type {
  InputTensor,
  OutputTensor,
  RunModel,
} from '../../../../../sut-node/model/model-facts.ts';

// Goal: payloads become the official model's input, its outputs the bytes that the accuracy script
// reads, and what does not fit is named. Method: a model that is described and one that is faked;
// the response's numbers worked out by hand.

const ELEMENTS = detectionElements('retinanet');

const FORM = {
  ...{ boxes: 'boxes', scores: 'scores', labels: 'labels', isTopFirst: false },
  ...{ side: 800, scoreMin: 0.05 },
};

const MODEL = {
  file: 'net.onnx',
  inputs: [{ name: 'images', elementType: 'float', shape: [1, 3, 800, 800] }],
  outputs: [
    { name: 'labels', elementType: 'int64', shape: [-1] },
    { name: 'boxes', elementType: 'float', shape: [-1, 4] },
    { name: 'scores', elementType: 'float', shape: [-1] },
  ],
};

function outputsOf(
  boxes: readonly number[],
  scores: readonly number[],
  labels: readonly number[],
): Map<string, OutputTensor> {
  return new Map([
    ['boxes', { data: Float32Array.from(boxes), dims: [scores.length, 4] }],
    ['scores', { data: Float32Array.from(scores), dims: [scores.length] }],
    ['labels', { data: BigInt64Array.from(labels, BigInt), dims: [scores.length] }],
  ]);
}

function numbersOf(response: Uint8Array): number[] {
  return [...new Float32Array(response.buffer, response.byteOffset, response.length / 4)];
}

const NONE = outputsOf([], [], []);

describe('detectionsOf', () => {
  it('writes 7 numbers per detection, and ends at the first score below 0.05', () => {
    const boxes = [0, 80, 400, 160, 8, 16, 24, 32, 1, 2, 3, 4, 1, 2, 3, 4];
    const response = detectionsOf(outputsOf(boxes, [0.5, 0.05, 0.0499, 0.9], [3, 263, 1, 1]), FORM);
    expect(numbersOf(response)).toEqual(
      [0, 0.1, 0, 0.2, 0.5, 0.5, 3, 0, 0.02, 0.01, 0.04, 0.03, 0.05, 263].map(Math.fround),
    );
  });

  it('answers nothing where nothing is found', () => {
    expect(detectionsOf(NONE, FORM)).toHaveLength(0);
  });

  it('refuses outputs of different counts', () => {
    expect(() => detectionsOf(outputsOf([1, 2, 3, 4], [0.5, 0.4], [1, 1]), FORM)).toThrow(
      /4 numbers of boxes, 2 scores and 2 labels/,
    );
  });
});

describe('the pipeline', () => {
  const answer = async (payload: Uint8Array, form: string, outputs = NONE) => {
    const seen: InputTensor[] = [];
    const run: RunModel = async (inputs, names) => {
      seen.push(...inputs);
      expect(names).toEqual(['boxes', 'scores', 'labels']);
      return outputs;
    };
    const pipeline = benchmark.openPipeline(MODEL, {});
    const [response] = await pipeline.answer([{ payload, form }], run);
    return { response, input: seen[0] };
  };

  it('turns bytes into planes of 0 to 1', async () => {
    const payload = new Uint8Array(ELEMENTS);
    payload.set([255, 51, 0, 0, 0, 102]);
    const { input } = await answer(payload, 'uint8');
    expect(input).toMatchObject({ name: 'images', elementType: 'float', dims: [1, 3, 800, 800] });
    const at = (i: number) => input?.data[i];
    expect([at(0), at(1), at(640_000), at(1_280_001)]).toEqual([
      1,
      0,
      ...[0.2, 0.4].map(Math.fround),
    ]);
  });

  it('takes floats as they are, at any place in memory', async () => {
    const floats = new Float32Array(ELEMENTS).fill(0.25);
    const shifted = new Uint8Array(floats.byteLength + 1);
    shifted.set(new Uint8Array(floats.buffer), 1);
    for (const payload of [new Uint8Array(floats.buffer), shifted.subarray(1)]) {
      const { input } = await answer(payload, 'fp32');
      expect(input?.data).toHaveLength(ELEMENTS);
      expect(input?.data[77]).toBe(0.25);
    }
  });

  it('answers its warm-up payload, a JPEG', async () => {
    const { form, payload } = benchmark.openPipeline(MODEL, {}).warmUpPayload();
    const { response } = await answer(payload, form, outputsOf([0, 0, 8, 8], [0.9], [1]));
    expect(response).toHaveLength(28);
  });

  it('makes a bad payload the error of its sample', async () => {
    const short = await answer(new Uint8Array(9), 'uint8');
    expect(short.response).toMatchObject({
      message: 'an image of the form uint8 has 1920000 bytes, this payload has 9',
    });
    const floats = new Float32Array(ELEMENTS);
    floats[5] = Number.NaN;
    const notFinite = await answer(new Uint8Array(floats.buffer), 'fp32');
    expect(notFinite.response).toMatchObject({ message: expect.stringMatching(/element 5 .*NaN/) });
    const noImage = await answer(Uint8Array.of(1, 2, 3, 4), 'jpeg');
    expect(noImage.response).toMatchObject({ message: expect.stringMatching(/not a JPEG image/) });
  });

  it.each([
    ['another input', { inputs: [{ ...MODEL.inputs[0], name: 'image' }] }, /expected input images/],
    ['another size', { inputs: [{ ...MODEL.inputs[0], shape: [1, 3, 300, 300] }] }, /800, 800/],
    ['no boxes', { outputs: MODEL.outputs.slice(2) }, /expected output boxes: float; found scores/],
  ])('refuses a model with %s', (_, change, message) => {
    const model = { ...MODEL, ...change } as typeof MODEL;
    expect(() => benchmark.openPipeline(model, {})).toThrow(message);
  });

  it('takes a model with free axes', () => {
    const inputs = [{ name: 'images', elementType: 'float', shape: [-1, 3, -1, -1] }];
    expect(benchmark.openPipeline({ ...MODEL, inputs }, {}).samplesAtOnce).toBe(1);
  });
});

describe('ssd-resnet34', () => {
  const onnx = {
    file: 'net.onnx',
    inputs: [{ name: 'image', elementType: 'float', shape: [1, 3, 1200, 1200] }],
    outputs: [
      { name: 'bboxes', elementType: 'float', shape: [1, -1, 4] },
      { name: 'labels', elementType: 'int64', shape: [1, -1] },
      { name: 'scores', elementType: 'float', shape: [1, -1] },
    ],
  };
  const tensorflow = {
    file: 'net.onnx',
    inputs: [{ name: 'image:0', elementType: 'float', shape: [1, 1200, 1200, 3] }],
    outputs: [
      { name: 'detection_bboxes:0', elementType: 'float', shape: [1, -1, 4] },
      { name: 'detection_scores:0', elementType: 'float', shape: [1, -1] },
      { name: 'detection_classes:0', elementType: 'int64', shape: [1, -1] },
    ],
  };
  const found = (boxes: string, scores: string, labels: string) => [
    [boxes, Float32Array.of(0.125, 0.25, 0.5, 0.75, 0, 0, 1, 1, 0, 0, 1, 1)],
    [scores, Float32Array.of(0.75, 0.5, 0.25)],
    [labels, BigInt64Array.of(80n, 1n, 2n)],
  ];
  const answer = async (model: typeof onnx, payload: Uint8Array, form: string) => {
    const pipeline = ssdResnet34.openPipeline(model, {});
    let input: InputTensor | undefined;
    const run = (async ([given]: InputTensor[], names: [string, string, string]) => {
      input = given;
      return new Map(found(...names).map(([name, data]) => [name, { data, dims: [] }]));
    }) as unknown as RunModel;
    const [response] = await pipeline.answer([{ payload, form }], run);
    return { numbers: numbersOf(response as Uint8Array), input };
  };
  const bytes = new Uint8Array(detectionElements('ssd-resnet34'));
  bytes.set([255, 0, 0], 3);

  it('answers with what scores 0.5 or more, boxes left first in the model', async () => {
    const { numbers, input } = await answer(onnx, bytes, 'uint8');
    expect(numbers).toEqual([...[0, 0.25, 0.125, 0.75, 0.5, 0.75, 80], ...[0, 0, 0, 1, 1, 0.5, 1]]);
    expect(input).toMatchObject({ name: 'image', dims: [1, 3, 1200, 1200] });
    expect(input?.data[1]).toBeCloseTo((1 - 0.485) / 0.229, 6);
  });

  it("takes TensorFlow's form, boxes top first and from 0.05 on, in both layouts", async () => {
    const { numbers, input } = await answer(tensorflow, bytes, 'uint8');
    expect(numbers).toHaveLength(21);
    expect(numbers.slice(0, 7)).toEqual([0, 0.125, 0.25, 0.5, 0.75, 0.75, 80]);
    expect(input).toMatchObject({ name: 'image:0', dims: [1, 1200, 1200, 3] });
    expect(input?.data[3]).toBeCloseTo((1 - 0.485) / 0.229, 6);
    const [one] = tensorflow.inputs;
    const planes = { ...tensorflow, inputs: [{ ...one, shape: [1, 3, 1200, 1200] }] };
    const turned = await answer(planes as typeof onnx, bytes, 'uint8');
    expect(turned.input?.data[1]).toBe(input?.data[3]);
  });

  it('turns planes of floats where the model has pixels', async () => {
    const planes = new Float32Array(bytes.length);
    planes[1] = 0.5;
    const payload = new Uint8Array(planes.buffer);
    expect((await answer(onnx, payload, 'fp32')).input?.data[1]).toBe(0.5);
    expect((await answer(tensorflow, payload, 'fp32')).input?.data[3]).toBe(0.5);
  });

  it('tells which inputs and outputs it takes', () => {
    const other = {
      ...onnx,
      inputs: [{ name: 'x', elementType: 'float', shape: [1, 3, 300, 300] }],
    };
    expect(() => ssdResnet34.openPipeline(other, {})).toThrow(
      /expected input image: float \[1, 3, 1200, 1200\] or image:0: .*; found x: float \[1, 3, 300, 300\]/,
    );
    const mixed = { ...onnx, outputs: tensorflow.outputs };
    expect(() => ssdResnet34.openPipeline(mixed, {})).toThrow(
      /expected output bboxes: float; found/,
    );
  });
});
