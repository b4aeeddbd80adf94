import { describe, expect, it } from 'vitest';
import {
  type ConstantValues,
  GraphBuilder,
} from '../../../../../sut-node/model/onnx/graph-builder.ts';
import { loadOnnxRuntime } from '../../../../../sut-node/model/onnx/onnxruntime.ts';

// Goal: what the builder writes is an ONNX model that ONNX Runtime loads and computes correctly.
// Method: a graph with every kind of attribute, small enough to compute by hand.
function buildSmallModel(): Uint8Array {
  const graph = new GraphBuilder('small');
  const input = graph.input('x', 'float', ['N', 1, 2, 2]);
  // Elu as a float attribute, kernel_shape as a list, axis as an integer, auto_pad as a string.
  const active = graph.operator('Elu', [input], { alpha: { float: 1 } });
  const pooled = graph.operator('MaxPool', [active], { kernel_shape: [2, 1], auto_pad: 'VALID' });
  const flat = graph.operator('Flatten', [pooled], { axis: 1 });
  const weights = graph.constant([2, 2], Float32Array.of(1, 10, 100, 1000));
  graph.operator('MatMul', [flat, weights], {}, 'y');
  graph.operator('ArgMax', ['y'], { axis: 1, keepdims: 0 }, 'best');
  graph.output('y', 'float', ['N', 2]);
  graph.output('best', 'int64', ['N']);
  return graph.build('A model of a test.', { origin: 'test' });
}

describe('GraphBuilder', () => {
  it('writes a model that ONNX Runtime computes as expected, for any batch size', async () => {
    const { InferenceSession, Tensor } = await loadOnnxRuntime();
    const session = await InferenceSession.create(buildSmallModel());
    const x = new Tensor('float32', Float32Array.of(1, 2, 3, 1, 4, 0, 0, 5), [2, 1, 2, 2]);
    const { y, best } = await session.run({ x });
    expect(y?.data).toEqual(Float32Array.of(203, 2030, 504, 5040));
    expect(best?.data).toEqual(BigInt64Array.of(1n, 1n));
    expect(y?.dims).toEqual([2, 2]);
  });

  it('declares inputs and outputs with a free batch axis', async () => {
    const { InferenceSession } = await loadOnnxRuntime();
    const session = await InferenceSession.create(buildSmallModel());
    expect(session.inputMetadata).toEqual([
      { name: 'x', isTensor: true, type: 'float32', shape: ['N', 1, 2, 2] },
    ]);
    expect(session.outputNames).toEqual(['y', 'best']);
  });

  it('writes the same bytes for the same calls', () => {
    expect(buildSmallModel()).toEqual(buildSmallModel());
  });

  it('refuses a number that is neither an integer nor marked as a float', () => {
    const graph = new GraphBuilder('wrong');
    expect(() => graph.operator('Elu', ['x'], { alpha: 0.5 })).toThrow('alpha');
  });

  it.each<[string, ConstantValues, readonly number[]]>([
    ['float', Float32Array.of(1.5, -2), [1.5, -2]],
    ['uint8', Uint8Array.of(0, 255), [0, 255]],
    ['int8', Int8Array.of(-128, 127), [-128, 127]],
    ['int32', Int32Array.of(-70_000, 70_000), [-70_000, 70_000]],
    ['int64', BigInt64Array.of(-5n, 5n), [-5, 5]],
  ])('writes constants of %s', async (elementType, values, expected) => {
    const { InferenceSession, Tensor } = await loadOnnxRuntime();
    const graph = new GraphBuilder('constants');
    graph.input('x', 'float', [1]);
    graph.operator('Cast', [graph.constant([2], values)], { to: 1 }, 'y');
    graph.output('y', 'float', [2]);
    const session = await InferenceSession.create(graph.build(elementType));
    const { y } = await session.run({ x: new Tensor('float32', Float32Array.of(0), [1]) });
    expect(y?.data).toEqual(Float32Array.from(expected));
  });

  it('refuses a constant whose values do not fill its shape', () => {
    const graph = new GraphBuilder('wrong');
    expect(() => graph.constant([2, 3], new Float32Array(5))).toThrow('[2, 3]');
  });
});
