import { describe, expect, it } from 'vitest';
import { benchmark as mobilenet } from '../../../../../sut-node/benchmarks/mobilenet/benchmark.ts';
import { benchmark as resnet50 } from '../../../../../sut-node/benchmarks/resnet50/benchmark.ts';
import type { SutBenchmark } from '../../../../../sut-node/benchmarks/sut-benchmark.ts';
import type {
  ModelPipeline,
  ModelUsage,
  OpenedModel,
  OutputTensor,
} from '../../../../../sut-node/model/model-facts.ts';
import { modelSource } from '../../../../../sut-node/model/model-source.ts';

// Goal: the reference models are used as MLCommons' own scripts use them, other models as they
// look. Method: inputs and outputs as ONNX Runtime tells them of the reference files; outputs made
// by hand.
const IMAGE = [0, 3, 224, 224];

const RESNET50: OpenedModel = {
  file: 'resnet50_v1.onnx',
  inputs: [{ name: 'input_tensor:0', elementType: 'float', shape: IMAGE }],
  outputs: [
    { name: 'ArgMax:0', elementType: 'int64', shape: [-1] },
    { name: 'softmax_tensor:0', elementType: 'float', shape: [-1, 1001] },
  ],
};

const MOBILENET: OpenedModel = {
  file: 'mobilenet_v1_1.0_224.onnx',
  inputs: [{ name: 'input:0', elementType: 'float', shape: IMAGE }],
  outputs: [
    { name: 'MobilenetV1/Predictions/Reshape_1:0', elementType: 'float', shape: [-1, 1001] },
  ],
};

/** The class that a pipeline tells of two samples. */
function classesOf(
  benchmark: SutBenchmark<ModelPipeline>,
  model: OpenedModel,
  output: OutputTensor,
  usage: ModelUsage = {},
): number[] {
  const { outputNames, postprocess } = benchmark.openPipeline(model, usage);
  expect(outputNames).toHaveLength(1);
  const outputs = new Map([[outputNames[0] as string, output]]);
  return [0, 1].map((row) => {
    const response = postprocess(outputs, row);
    expect(response).toHaveLength(4);
    return new DataView(response.buffer, response.byteOffset).getFloat32(0, true);
  });
}

const labels = (...values: bigint[]): OutputTensor => ({
  data: BigInt64Array.from(values),
  dims: [values.length],
});

/** Scores of two samples whose largest are at these places. */
function scores(count: number, ...places: [number, number]): OutputTensor {
  const data = new Float32Array(2 * count).fill(0.1);
  places.forEach((place, row) => {
    data[row * count + place] = 0.9;
  });
  return { data, dims: [2, count] };
}

describe('resnet50 on the SUT node', () => {
  it('tells the label of the reference without its background class', () => {
    const { outputNames, inputs, forms, tensorForms } = resnet50.openPipeline(RESNET50, {});
    expect(outputNames).toEqual(['ArgMax:0']);
    expect(inputs).toMatchObject([{ name: 'input_tensor:0', sampleShape: [3, 224, 224] }]);
    expect(forms).toEqual(['jpeg', 'uint8', 'fp32']);
    expect(tensorForms).toEqual(['fp32']);
    expect(classesOf(resnet50, RESNET50, labels(66n, 1n))).toEqual([65, 0]);
  });

  it('tells the highest score of a model of 1,000 classes as it is', () => {
    const outputs = [{ name: 'scores', elementType: 'float', shape: [-1, 1000] }];
    expect(classesOf(resnet50, { ...RESNET50, outputs }, scores(1000, 65, 999))).toEqual([65, 999]);
  });

  it('follows a description where that says something', () => {
    const usage: ModelUsage = { output: 'softmax_tensor:0', classOffset: 5 };
    expect(classesOf(resnet50, RESNET50, scores(1001, 3, 4), usage)).toEqual([8, 9]);
  });

  it.each<[string, string, ModelUsage, number[]]>([
    ["the reference's", 'ArgMax:0', {}, [65, 0]],
    ['one that is described as without background', 'ArgMax:0', { classOffset: 0 }, [66, 1]],
    ['another that is described', 'label', { classOffset: -1 }, [65, 0]],
  ])('tells a label without scores beside it: %s', (_case, name, usage, classes) => {
    const outputs = [{ name, elementType: 'int64', shape: [-1] }];
    const model = { ...RESNET50, outputs };
    expect(classesOf(resnet50, model, labels(66n, 1n), usage)).toEqual(classes);
  });

  it('tells the label of a model with 1,000 scores beside it as it is', () => {
    const outputs = [
      { name: 'label', elementType: 'int64', shape: [-1, 1] },
      { name: 'scores', elementType: 'float', shape: [-1, 1000] },
    ];
    expect(classesOf(resnet50, { ...RESNET50, outputs }, labels(66n, 1n))).toEqual([66, 1]);
  });

  it('refuses a label of which it is unknown whether the background is among the classes', () => {
    const outputs = [{ name: 'label', elementType: 'int64', shape: [-1] }];
    expect(() => resnet50.openPipeline({ ...RESNET50, outputs }, {})).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL',
        message: expect.stringMatching(
          /^resnet50_v1\.onnx outputs a label, and no scores .* \(label: int64 \[free\]\).*"classOffset: -1"/,
        ),
      }),
    );
  });

  it('answers with the outputs as they are where a description says so', () => {
    const usage: ModelUsage = { postprocess: 'raw' };
    expect(resnet50.openPipeline(RESNET50, usage).outputNames).toEqual(
      RESNET50.outputs.map(({ name }) => name),
    );
  });

  it('takes a model whose height and width are free, in either layout', () => {
    const free = (shape: number[]) => ({
      ...RESNET50,
      inputs: [{ name: 'x', elementType: 'float', shape }],
    });
    const shapeOf = (shape: number[]) =>
      resnet50.openPipeline(free(shape), {}).inputs[0]?.sampleShape;
    expect(shapeOf([-1, 3, -1, -1])).toEqual([3, 224, 224]);
    expect(shapeOf([-1, -1, -1, 3])).toEqual([224, 224, 3]);
  });

  it.each([
    [
      'another size',
      { ...RESNET50, inputs: [{ ...RESNET50.inputs[0], shape: [-1, 3, 299, 299] }] },
    ],
    ['no class', { ...RESNET50, outputs: [{ name: 'x', elementType: 'string', shape: [-1] }] }],
  ])('refuses a model of %s', (_case, model) => {
    expect(() => resnet50.openPipeline(model as OpenedModel, {})).toThrow(
      expect.objectContaining({ code: 'ERR_MODEL' }),
    );
  });
});

describe('mobilenet on the SUT node', () => {
  it('tells the highest score of the reference without its background class', () => {
    expect(classesOf(mobilenet, MOBILENET, scores(1001, 66, 1000))).toEqual([65, 999]);
  });
});

describe.each([
  ['resnet50', resnet50, /resnet50_v1\.onnx.*4735647/],
  ['mobilenet', mobilenet, /mobilenet_v1_1\.0_224\.onnx.*4735651/],
])('the model of %s', (key, benchmark, howToGet) => {
  it('has to be named, and how to get it is told', () => {
    expect(() => modelSource(benchmark, undefined)).toThrow(
      expect.objectContaining({ code: 'ERR_MODEL', message: expect.stringMatching(howToGet) }),
    );
  });

  it('can be a stand-in, which is named as one', () => {
    expect(modelSource(benchmark, 'standin').name).toBe(`${key}-standin-fp32`);
    expect(modelSource(benchmark, 'standin-int8').name).toBe(`${key}-standin-int8`);
  });
});
