import { describe, expect, it } from 'vitest';
import {
  newVolume,
  openVolume,
  type VolumeShape,
} from '../../../../../shared/benchmarks/volume/volume.ts';
import { benchmark } from '../../../../../sut-node/benchmarks/3d-unet/benchmark.ts';
import { WINDOW_VOXELS } from '../../../../../sut-node/benchmarks/3d-unet/sliding-window.ts';
import {
  FREE,
  type OpenedModel,
  type RunModel,
} from '../../../../../sut-node/model/model-facts.ts';

// Goal: a volume goes through the model window by window, in batches that the model takes; a model
// or a payload that does not fit is told. Method: a model that answers with its input, so that
// labels are known, and counts its inferences.

const SIDES = [128, 128, 128];

function modelOf(fields: { batch?: number; output?: readonly number[]; name?: string } = {}) {
  const { batch = FREE, output = [batch, 3, ...SIDES], name = 'input' } = fields;
  return {
    file: 'unet.onnx',
    inputs: [{ name, elementType: 'float', shape: [batch, 1, ...SIDES] }],
    outputs: [{ name: 'output', elementType: 'float', shape: output }],
  } satisfies OpenedModel;
}

/**
 * Scores of 0 for the first class, and of the second and third the voxel and twice the voxel less
 * 1.
 */
function echoModel(batches: number[]): RunModel {
  return async ([input]) => {
    const windows = input?.data as Float32Array;
    const count = windows.length / WINDOW_VOXELS;
    batches.push(count);
    const scores = new Float32Array(3 * windows.length);
    for (let window = 0; window < count; window += 1) {
      const begin = window * 3 * WINDOW_VOXELS;
      for (let i = 0; i < WINDOW_VOXELS; i += 1) {
        const voxel = windows[window * WINDOW_VOXELS + i] as number;
        scores[begin + WINDOW_VOXELS + i] = voxel;
        scores[begin + 2 * WINDOW_VOXELS + i] = 2 * voxel - 1;
      }
    }
    return new Map([['output', { data: scores, dims: [count, 3, ...SIDES] }]]);
  };
}

function volumeOf(shape: VolumeShape) {
  const volume = newVolume(shape);
  for (let i = 0; i < volume.voxels.length; i += 1) volume.voxels[i] = (i % 3) - 0.5;
  return volume;
}

describe('a volume', () => {
  it.each([
    ['one window at a time where the axis is free', {}, undefined, [1, 1, 1, 1]],
    ['as many as are asked for', {}, 3, [3, 1]],
    ['as many as the model takes, filled up', { batch: 3 }, undefined, [3, 3]],
  ])('goes through the model %s', async (_what, model, asked, expected) => {
    const { payload, voxels } = volumeOf([192, 128, 192]);
    const batches: number[] = [];
    const pipeline = benchmark.openPipeline(modelOf(model), {}, asked);
    const [labels] = await pipeline.answer([{ payload, form: 'volume' }], echoModel(batches));
    expect(batches).toEqual(expected);
    const wanted = Uint8Array.from(voxels, (voxel) => (voxel < 0 ? 0 : voxel < 1 ? 1 : 2));
    expect(Buffer.compare(labels as Uint8Array, wanted)).toBe(0);
  });

  it('that is none is a bad sample, and the others are answered', async () => {
    const pipeline = benchmark.openPipeline(modelOf(), {});
    const good = pipeline.warmUpPayload();
    const cut = { ...good, payload: good.payload.subarray(0, 100) };
    const answers = await pipeline.answer([cut, good], echoModel([]));
    expect(answers[0]).toEqual(
      new Error('a volume of 128 x 128 x 128 has 8388620 bytes; this payload has 100'),
    );
    const none = new Uint8Array(WINDOW_VOXELS);
    expect(Buffer.compare(answers[1] as Uint8Array, none)).toBe(0);
  });

  it.each([
    [[192, 100, 128], /^a volume of 192 x 100 x 128: each axis must be a multiple of 64/],
    [[0, 0, 0], /^a volume of 0 x 0 x 0: each axis/],
    [[2 ** 32 - 64, 128, 128], /^a volume of 4294967232 x 128 x 128: each axis/],
  ])('of %s voxels is none', (shape, message) => {
    const payload = new Uint8Array(Uint32Array.from(shape).buffer);
    expect(() => openVolume(payload)).toThrow(message);
    expect(() => openVolume(payload.subarray(1))).toThrow('in 12 bytes; this payload has 11');
  });

  it('may lie anywhere in memory', () => {
    const { payload, voxels } = volumeOf([128, 128, 128]);
    const shifted = new Uint8Array(payload.length + 1);
    shifted.set(payload, 1);
    const opened = openVolume(shifted.subarray(1)).voxels;
    expect(opened.every((voxel, i) => voxel === voxels[i])).toBe(true);
  });
});

describe('a model', () => {
  it.each([
    [
      'another input',
      modelOf({ name: 'image' }),
      /expected input input: float \[batch, 1, 128, 128, 128\]; found image/,
    ],
  ])('that does not fit is refused: %s', (_what, model, message) => {
    expect(() => benchmark.openPipeline(model, {})).toThrow(
      expect.objectContaining({ code: 'ERR_MODEL', message: expect.stringMatching(message) }),
    );
  });

  it('of two classes fails at its first window', async () => {
    const pipeline = benchmark.openPipeline(modelOf(), {});
    const run: RunModel = async () =>
      new Map([['output', { data: new Float32Array(4), dims: [1, 2, 2] }]]);
    await expect(pipeline.answer([pipeline.warmUpPayload()], run)).rejects.toThrow(
      'has the shape [1, 2, 2] for windows of [1, 1, 128, 128, 128]; it must have 3 scores for each voxel',
    );
  });

  it('with a fixed batch refuses a larger one', () => {
    expect(() => benchmark.openPipeline(modelOf({ batch: 1 }), {}, 4)).toThrow(
      'takes batches of 1, not --batch-size-max 4',
    );
  });
});
