import { describe, expect, it } from 'vitest';
import { IMAGENET_PREPARATIONS } from '../../../../shared/benchmarks/image/imagenet.ts';
import { encodeJpeg } from '../../../../shared/benchmarks/image/jpeg.ts';
import { IMAGENET_ELEMENTS } from '../../../../shared/rules/cards/imagenet.ts';
import type { PipelineInput, Preprocessor } from '../../../../sut-node/model/model-facts.ts';
import {
  IMAGENET_SHAPES,
  type ImagenetLayout,
  imagenetPreprocessor,
} from '../../../../sut-node/pipeline/imagenet-preprocessor.ts';

// Goal: each form of an image reaches the model's input as the reference has it, in either layout,
// and what is no image is refused in words that help. Method: images of which one pixel is known,
// and payloads that are wrong in one way each.
const PIXELS = IMAGENET_ELEMENTS / 3;
/** The pixel that is looked at: row 3, column 7. */
const PLACE = 3 * 224 + 7;
const MEANS = [123.68, 116.78, 103.94];

const inputOf = (layout: ImagenetLayout): PipelineInput => ({
  name: 'image',
  elementType: 'float',
  sampleShape: IMAGENET_SHAPES[layout],
});

function open(layout: ImagenetLayout, benchmark: 'resnet50' | 'mobilenet'): Preprocessor {
  return imagenetPreprocessor([inputOf(layout)], IMAGENET_PREPARATIONS[benchmark]);
}

/** Red, green and blue of {@link PLACE} in the model's input. */
async function pixelOf(
  layout: ImagenetLayout,
  benchmark: 'resnet50' | 'mobilenet',
  form: string,
  payload: Uint8Array,
): Promise<number[]> {
  const target = new Float32Array(IMAGENET_ELEMENTS);
  await open(layout, benchmark).preprocess(payload, form, [target]);
  const at = (channel: number): number =>
    layout === 'nchw' ? channel * PIXELS + PLACE : PLACE * 3 + channel;
  return [0, 1, 2].map((channel) => target[at(channel)] as number);
}

/** Black but for the pixel at {@link PLACE}. */
function pixels(...rgb: number[]): Uint8Array {
  const image = new Uint8Array(IMAGENET_ELEMENTS);
  image.set(rgb, PLACE * 3);
  return image;
}

const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 4));

describe('imagenetPreprocessor', () => {
  it.each<[ImagenetLayout]>([['nchw'], ['nhwc']])('normalises pixels into %s', async (layout) => {
    const image = pixels(255, 0, 128);
    const [red, green, blue] = MEANS as [number, number, number];
    expect(await pixelOf(layout, 'resnet50', 'uint8', image)).toEqual(
      near([255 - red, -green, 128 - blue]),
    );
    expect(await pixelOf(layout, 'mobilenet', 'uint8', image)).toEqual(
      near([1, -1, (128 / 255 - 0.5) * 2]),
    );
  });

  it('decodes, resizes and cuts a JPEG', async () => {
    const grey = new Uint8Array(300 * 400 * 3).fill(200);
    const jpeg = await encodeJpeg(grey, { width: 300, height: 400 }, 90);
    expect(await pixelOf('nchw', 'resnet50', 'jpeg', jpeg)).toEqual(
      near(MEANS.map((mean) => 200 - mean)),
    );
  });

  it.each<[ImagenetLayout, readonly string[]]>([
    ['nchw', ['fp32']],
    ['nhwc', []],
  ])('takes fp32 as it is, and turns it for a model in %s', async (layout, tensorForms) => {
    const tensor = new Float32Array(IMAGENET_ELEMENTS);
    for (let channel = 0; channel < 3; channel += 1) tensor[channel * PIXELS + PLACE] = channel + 1;
    // At an odd address, as payloads lie in messages.
    const payload = new Uint8Array(tensor.byteLength + 1).subarray(1);
    payload.set(new Uint8Array(tensor.buffer));
    expect(await pixelOf(layout, 'resnet50', 'fp32', payload)).toEqual([1, 2, 3]);
    expect(open(layout, 'resnet50').tensorForms).toEqual(tensorForms);
  });

  it('warms up with an image that its codec decodes', async () => {
    const { form, payload } = open('nchw', 'resnet50').warmUpPayload();
    expect(form).toBe('jpeg');
    expect(await pixelOf('nchw', 'mobilenet', form, payload)).toEqual(
      near([0, 0, 0].fill(1 / 255)),
    );
  });

  it.each<[string, string, () => Uint8Array, RegExp]>([
    ['no JPEG', 'jpeg', () => Buffer.from('no picture'), /not a JPEG image/],
    ['an empty JPEG', 'jpeg', () => new Uint8Array(0), /0 bytes/],
    ['too few pixels', 'uint8', () => new Uint8Array(1000), /150528 bytes.*has 1000/],
    ['too many floats', 'fp32', () => new Uint8Array(602_116), /602112 bytes.*has 602116/],
    ['NaN', 'fp32', () => withNumber(Number.NaN), /element 9 of input "image" is NaN/],
    ['an infinity', 'fp32', () => withNumber(Number.NEGATIVE_INFINITY), /element 9/],
  ])('refuses %s in either layout', async (_case, form, payload, message) => {
    for (const layout of ['nchw', 'nhwc'] as const) {
      await expect(pixelOf(layout, 'resnet50', form, payload())).rejects.toThrow(
        expect.objectContaining({
          code: 'ERR_DATA_SET',
          message: expect.stringMatching(message),
        }),
      );
    }
  });

  it('refuses a truncated JPEG', async () => {
    const grey = new Uint8Array(300 * 400 * 3).map((_, i) => i % 251);
    const jpeg = await encodeJpeg(grey, { width: 300, height: 400 }, 90);
    const cut = jpeg.subarray(0, jpeg.length / 2);
    await expect(pixelOf('nchw', 'resnet50', 'jpeg', cut)).rejects.toThrow(/truncated/);
  });

  it.each<[string, readonly PipelineInput[]]>([
    ['another size', [{ ...inputOf('nchw'), sampleShape: [3, 299, 299] }]],
    ['a free size', [{ ...inputOf('nchw'), sampleShape: [3, -1, -1] }]],
    ['bytes', [{ ...inputOf('nchw'), elementType: 'uint8' }]],
    ['two inputs', [inputOf('nchw'), inputOf('nhwc')]],
    ['no input', []],
  ])('refuses a model of %s', (_case, inputs) => {
    const opening = () => imagenetPreprocessor(inputs, IMAGENET_PREPARATIONS.resnet50);
    expect(opening).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL',
        message: expect.stringContaining('[3, 224, 224] or [224, 224, 3]'),
      }),
    );
  });
});

function withNumber(value: number): Uint8Array {
  const tensor = new Float32Array(IMAGENET_ELEMENTS);
  tensor[9] = value;
  return new Uint8Array(tensor.buffer);
}
