import { describe, expect, it } from 'vitest';
import {
  decodeJpeg,
  encodeJpeg,
  jpegCodecVersion,
} from '../../../../../shared/benchmarks/image/jpeg.ts';

// Goal: an image is decoded whole or refused with the reason; nothing half-decoded passes.
// Method: encode a gradient, then cut, damage and replace the file.
const SIZE = { width: 48, height: 48 };

function gradient(width: number, height: number): Uint8Array {
  return Uint8Array.from({ length: width * height * 3 }, (_, i) => (i / 27) % 256);
}

async function failureOf(bytes: Uint8Array): Promise<unknown> {
  return decodeJpeg(bytes, SIZE).catch((error: unknown) => error);
}

describe('decodeJpeg', () => {
  it('gives height x width x 3 bytes close to the pixels that were encoded', async () => {
    const pixels = new Uint8Array(48 * 48 * 3).fill(100);
    const decoded = await decodeJpeg(await encodeJpeg(pixels, SIZE, 85), SIZE);
    expect(decoded).toHaveLength(pixels.length);
    expect(Math.max(...decoded.map((value) => Math.abs(value - 100)))).toBeLessThanOrEqual(2);
  });

  it.each([
    ['empty', new Uint8Array(0), /not a JPEG image \(0 bytes\)/],
    ['text', Buffer.from('hello'), /not a JPEG image \(5 bytes .* 68656c, not ffd8ff\)/],
    ['a PNG', Buffer.from('89504e470d0a1a0a', 'hex'), /not a JPEG image \(8 bytes .* 89504e/],
    ['only a start', Buffer.from('ffd8ffe0', 'hex'), /damaged or truncated JPEG image of 4 bytes/],
  ])('refuses bytes that are %s', async (_case, bytes, message) => {
    expect(await failureOf(bytes)).toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(message),
    });
  });

  it('refuses a truncated image instead of filling it up with grey', async () => {
    const jpeg = await encodeJpeg(gradient(48, 48), SIZE, 85);
    expect(await failureOf(jpeg.subarray(0, jpeg.length - 100))).toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(
        /damaged or truncated JPEG image of \d+ bytes \(.*premature end/,
      ),
    });
  });

  it.each([
    ['smaller', 40, 48],
    ['larger', 100, 80],
  ])('refuses an image that is %s, naming both sizes', async (_case, width, height) => {
    const jpeg = await encodeJpeg(gradient(width, height), { width, height }, 85);
    expect(await failureOf(jpeg)).toMatchObject({
      code: 'ERR_DATA_SET',
      message: `the JPEG image is ${width}x${height} pixels, not 48x48`,
    });
  });
});

describe('jpegCodecVersion', () => {
  it('names the versions that decide about the bytes', async () => {
    expect(await jpegCodecVersion()).toMatch(/^sharp-\d.*-vips-\d/);
  });
});
