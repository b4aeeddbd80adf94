import { describe, expect, it } from 'vitest';
import { renderDigit } from '../../../../../shared/benchmarks/digits/draw-digit.ts';
import { encodeJpeg } from '../../../../../shared/benchmarks/image/jpeg.ts';
import { EVALUATION_SET, IMAGE_SIZE } from '../../../../../shared/rules/cards/digits.ts';
import type { OutputTensor } from '../../../../../sut-node/model/model-facts.ts';
import { digitsPipeline } from '../../../../scenes/simulated-run/sut-parts.ts';

// Goal: payload bytes become the model's input, its output becomes response bytes, all else is
// refused. Method: both forms of one image; outputs of several shapes and types.
const ELEMENT_COUNT = IMAGE_SIZE * IMAGE_SIZE * 3;
const pipeline = digitsPipeline();
const { postprocess, warmUpPayload } = pipeline;

function preprocess(payload: Uint8Array, form: string, target: Float32Array): Promise<void> {
  return pipeline.preprocess(payload, form, [target]);
}

describe('preprocess of digits', () => {
  it('turns raw bytes into planes of -1 to 1', async () => {
    const payload = new Uint8Array(ELEMENT_COUNT);
    payload.set([255, 0, 127], 0);
    payload.set([0, 255, 0], ELEMENT_COUNT - 3);
    const target = new Float32Array(ELEMENT_COUNT);
    await preprocess(payload, 'raw', target);
    const plane = IMAGE_SIZE * IMAGE_SIZE;
    expect([target[0], target[plane], target[2 * plane]]).toEqual([
      1,
      -1,
      expect.closeTo(-0.004, 3),
    ]);
    expect([target[plane - 1], target[2 * plane - 1], target[3 * plane - 1]]).toEqual([-1, 1, -1]);
  });

  it('turns a JPEG into nearly what its pixels become', async () => {
    // One colour: JPEG keeps it to a level or two.
    const grey = new Uint8Array(ELEMENT_COUNT).fill(200);
    const size = { width: IMAGE_SIZE, height: IMAGE_SIZE };
    const target = new Float32Array(ELEMENT_COUNT);
    await preprocess(await encodeJpeg(grey, size, 85), 'jpeg', target);
    expect(Math.min(...target)).toBeGreaterThan(0.54);
    expect(Math.max(...target)).toBeLessThan(0.6);
  });

  it.each([6911, 6913, 0])('refuses %s raw bytes, naming both numbers', async (byteCount) => {
    const payload = new Uint8Array(byteCount);
    await expect(preprocess(payload, 'raw', new Float32Array(ELEMENT_COUNT))).rejects.toThrow(
      `a raw image has 6912 bytes (48 x 48 x 3), this payload has ${byteCount}`,
    );
  });

  it('refuses raw bytes in the form jpeg', async () => {
    const { rgb } = renderDigit(EVALUATION_SET, 0);
    const target = new Float32Array(ELEMENT_COUNT);
    await expect(preprocess(rgb, 'jpeg', target)).rejects.toThrow('not a JPEG image');
  });

  it('takes the warm-up payload', async () => {
    const { form, payload } = warmUpPayload();
    const target = new Float32Array(ELEMENT_COUNT).fill(Number.NaN);
    await preprocess(payload, form, target);
    expect(target).not.toContain(Number.NaN);
  });
});

describe('postprocess of digits', () => {
  function outputs(label: OutputTensor): ReadonlyMap<string, OutputTensor> {
    return new Map([['label', label]]);
  }

  it.each([
    ['int64', { data: BigInt64Array.of(4n, 9n), dims: [2] }],
    ['int64 with an axis of 1', { data: BigInt64Array.of(4n, 9n), dims: [2, 1] }],
    ['int32', { data: Int32Array.of(4, 9), dims: [2] }],
  ])('answers with the row of an %s output', (_case, label) => {
    expect([...postprocess(outputs(label), 1)]).toEqual([9, 0, 0, 0]);
  });

  it.each([
    ['lacks the output', new Map(), 'the model has no output "label"'],
    [
      'has several elements per sample',
      outputs({ data: new Float32Array(20), dims: [2, 10] }),
      'has the shape [2, 10], which has no single label',
    ],
    [
      'names no class',
      outputs({ data: BigInt64Array.of(0n, 281n), dims: [2] }),
      'the model answered class 281',
    ],
  ])("refuses a user's model that %s", (_case, modelOutputs, message) => {
    expect(() => postprocess(modelOutputs, 1)).toThrow(
      expect.objectContaining({ code: 'ERR_MODEL', message: expect.stringContaining(message) }),
    );
  });
});
