import { beforeAll, describe, expect, it } from 'vitest';
import { Trunk } from '../../../../../sut-node/benchmarks/standin/trunk.ts';
import {
  encodeModel,
  GraphBuilder,
  type ModelProto,
} from '../../../../../sut-node/model/onnx/graph-builder.ts';
import {
  loadOnnxRuntime,
  type OnnxRuntime,
} from '../../../../../sut-node/model/onnx/onnxruntime.ts';

// Goal: a trunk costs what it is asked to, in int8 too, depends on the sample, and never decides.
// Method: products counted from the shapes of weights; small trunks on ONNX Runtime.

const IMAGES = { channels: 3, side: 64, stride: 8, range: [-1, 1] } as const;

let ort: OnnxRuntime;
beforeAll(async () => {
  ort = await loadOnnxRuntime();
});

function imagesModel(flops: number, isInt8: boolean): ModelProto {
  const graph = new GraphBuilder('trunk');
  const image = graph.input('x', 'float', ['N', 3, IMAGES.side, IMAGES.side]);
  const found = new Trunk(graph).images(image, IMAGES, flops, isInt8);
  graph.output(graph.operator('Identity', [found], {}, 'y'), 'float', ['N', 1, 1, 1]);
  return graph.toModel('a trunk');
}

function rowsModel(flops: number): ModelProto {
  const graph = new GraphBuilder('trunk');
  const found = new Trunk(graph).rows(graph.input('x', 'float', ['N', 2]), 2, flops);
  graph.output(graph.operator('Identity', [found], {}, 'y'), 'float', ['N', 1]);
  return graph.toModel('a trunk');
}

function weightCount({ graph }: ModelProto): number {
  return graph.initializer.reduce(
    (sum, { dims }) => sum + (dims.length < 2 ? 0 : dims.reduce((a, b) => a * b, 1)),
    0,
  );
}

async function run(model: ModelProto, x: Float32Array, shape: number[]): Promise<Float32Array> {
  const session = await ort.InferenceSession.create(encodeModel(model));
  const { y } = await session.run({ x: new ort.Tensor('float32', x, shape) });
  return y?.data as Float32Array;
}

describe('Trunk', () => {
  it.each([1e7, 1e8, 1e9])('has layers of images that cost %d operations', (flops) => {
    const cells = (IMAGES.side / IMAGES.stride) ** 2;
    for (const isInt8 of [false, true]) {
      const cost = 2 * cells * weightCount(imagesModel(flops, isInt8));
      expect(Math.abs(cost / flops - 1)).toBeLessThan(0.1);
    }
  });

  it.each([1e6, 1e8])('has layers of rows that cost %d operations', (flops) => {
    const cost = 2 * weightCount(rowsModel(flops));
    expect(Math.abs(cost / flops - 1)).toBeLessThan(0.1);
  });

  it('gives small numbers that depend on the sample', async () => {
    const x = Float32Array.from({ length: 6 }, (_, i) => i);
    const y = await run(rowsModel(1e5), x, [3, 2]);
    expect(new Set(y).size).toBe(3);
    for (const value of y) expect(Math.abs(value)).toBeLessThan(1e-29);
  });

  it('gives nearly the same in int8, from a quarter of the bytes', async () => {
    const side = IMAGES.side;
    const x = Float32Array.from({ length: 3 * side * side }, (_, i) => Math.sin(i * i));
    const [float, int8] = [imagesModel(2e7, false), imagesModel(2e7, true)];
    const [a] = await run(float, x, [1, 3, side, side]);
    const [b] = await run(int8, x, [1, 3, side, side]);
    expect(a).not.toBe(0);
    expect(Math.abs((b as number) / (a as number) - 1)).toBeLessThan(0.2);
    expect(encodeModel(int8).length).toBeLessThan(0.3 * encodeModel(float).length);
  });
});
