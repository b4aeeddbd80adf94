import { describe, expect, it } from 'vitest';
import { zstdContentSize } from '../../../../shared/compression/codec.ts';

// Goal: the size in a frame's header is read wherever it stands, also by a Node that has no zstd.
// Method: headers written by hand from RFC 8878, 3.1.1.1, and beginnings of frames that Node 22
// made.
describe('zstdContentSize', () => {
  it.each([
    ['one byte, single segment', '28b52ffd 20 07', 7],
    ['two bytes, from 256 on', '28b52ffd 60 b80a', 3_000],
    ['four bytes', '28b52ffd a0 80969800', 10_000_000],
    ['four bytes behind a window', '28b52ffd 80 58 80969800', 10_000_000],
    ['eight bytes', '28b52ffd e0 0000000001000000', 2 ** 32],
    ['behind a dictionary id', '28b52ffd 63 01020304 0000', 256],
  ])('reads a size of %s', (_case, hex, size) => {
    expect(zstdContentSize(bytesOf(hex))).toBe(size);
  });

  it.each([
    ['nothing', ''],
    ['no frame', '28b52ffe 20 07'],
    ['a header that is cut off', '28b52ffd a0 8096'],
    ['a frame without a size', '28b52ffd 00 58'],
  ])('finds none in %s', (_case, hex) => {
    expect(zstdContentSize(bytesOf(hex))).toBeUndefined();
  });
});

function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}
