import { describe, expect, it } from 'vitest';
import {
  encodeModel,
  GraphBuilder,
  type ModelProto,
} from '../../../../../sut-node/model/onnx/graph-builder.ts';
import { loadOnnxRuntime } from '../../../../../sut-node/model/onnx/onnxruntime.ts';
import { quantiseModel, tensorsToQuantise } from '../../../../../sut-node/model/onnx/quantise.ts';
import { calibrate } from '../../../../tools/fit/calibrate.ts';

// Goal: a model in int8 computes nearly what it computes in float, with weights of one byte.
// Method: a small graph with every operator that is quantised, through the real ONNX Runtime; the outputs of
// the two are compared on inputs that the ranges were not taken from.
const SHAPE = [1, 2, 8, 8];
const ELEMENTS = 128;
const FLOAT_OUTPUTS = new Set(['sum']);

/** Smooth, without a random generator: the same on every machine. */
const wave = (count: number, step: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * step));

function smallModel(): ModelProto {
  const graph = new GraphBuilder('small');
  const image = graph.input('image', 'float', ['N', 2, 8, 8]);
  const filters = [graph.constant([4, 2, 3, 3], wave(72, 0.7)), graph.constant([4], wave(4, 1))];
  const conv = graph.operator('Conv', [image, ...filters], {
    kernel_shape: [3, 3],
    pads: [1, 1, 1, 1],
  });
  const relu = graph.operator('Relu', [graph.operator('Add', [conv, conv])]);
  const pooled = graph.operator('MaxPool', [relu], { kernel_shape: [2, 2], strides: [2, 2] });
  const mean = graph.operator('GlobalAveragePool', [pooled]);
  const flat = graph.operator('Flatten', [mean], { axis: 1 });
  const head = [graph.constant([4, 3], wave(12, 0.9)), graph.constant([3], wave(3, 2))];
  const scores = graph.operator('Gemm', [flat, ...head]);
  graph.operator('Add', [scores, graph.constant([], Float32Array.of(0.5))], {}, 'sum');
  graph.output('sum', 'float', ['N', 3]);
  return graph.toModel('A model of a test.');
}

async function* inputs(): AsyncGenerator<Float32Array> {
  for (const step of [0.17, 0.2, 0.24]) yield wave(ELEMENTS, step);
}

async function quantised(): Promise<ModelProto> {
  const model = smallModel();
  const tensors = tensorsToQuantise(model, FLOAT_OUTPUTS);
  const calibration = { model, tensors, inputName: 'image', inputShape: SHAPE };
  const ranges = await calibrate(await loadOnnxRuntime(), calibration, inputs());
  return quantiseModel(model, ranges, FLOAT_OUTPUTS);
}

async function run(model: ModelProto, input: Float32Array): Promise<Float32Array> {
  const { InferenceSession, Tensor } = await loadOnnxRuntime();
  const session = await InferenceSession.create(encodeModel(model));
  const outputs = await session.run({ image: new Tensor('float32', input, SHAPE) });
  return outputs['sum']?.data as Float32Array;
}

describe('quantiseModel', () => {
  it('computes nearly what the model computes in float', async () => {
    const input = wave(ELEMENTS, 0.21);
    const [expected, seen] = [await run(smallModel(), input), await run(await quantised(), input)];
    expect(seen).not.toEqual(expected);
    expected.forEach((value, i) => {
      expect((seen[i] as number) / value).toBeCloseTo(1, 1);
    });
  });

  it('holds weights in one byte and leaves the float ones out', async () => {
    const { initializer } = (await quantised()).graph;
    const filters = initializer.find(({ dims }) => dims.length === 4);
    expect(filters?.raw_data).toHaveLength(72);
    expect(initializer.filter(({ raw_data }) => raw_data.length === 72 * 4)).toEqual([]);
  });

  it('leaves operators in float whose output is named', async () => {
    const { node } = (await quantised()).graph;
    const sum = node.find(({ output }) => output.includes('sum'));
    expect(sum?.input[0]).not.toMatch(/_float$/);
  });

  it('refuses a tensor whose range is not known', () => {
    expect(() => quantiseModel(smallModel(), new Map(), FLOAT_OUTPUTS)).toThrow('range of image');
  });
});
