import { describe, expect, it } from 'vitest';
import {
  decodeResponse,
  encodeResponse,
} from '../../../../../shared/benchmarks/digits/response.ts';

// Goal: both halves agree on the bytes of a response, and nothing else passes for one.
// Method: all ten classes there and back, then bytes and numbers that are none.
describe('response of digits', () => {
  it('is a 32-bit little-endian integer', () => {
    expect([...encodeResponse(7)]).toEqual([7, 0, 0, 0]);
  });

  it('comes back as the class that was encoded', () => {
    const classes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    expect(classes.map((label) => decodeResponse(encodeResponse(label)))).toEqual(classes);
  });

  it('is read from the middle of a larger buffer', () => {
    const buffer = Uint8Array.of(9, 9, 9, 3, 0, 0, 0, 9);
    expect(decodeResponse(buffer.subarray(3, 7))).toBe(3);
  });

  it.each([-1, 10, 2.5, Number.NaN])('is refused for class %s', (label) => {
    expect(() => encodeResponse(label)).toThrow(
      expect.objectContaining({ code: 'ERR_MODEL', message: expect.stringContaining('0 to 9') }),
    );
  });

  it.each([
    ['empty', [], /4 bytes, this one has 0/],
    ['too long', [7, 0, 0, 0, 0, 0, 0, 0], /4 bytes, this one has 8/],
    ['no class', [10, 0, 0, 0], /from 0 to 9, this one is 10/],
    ['negative', [255, 255, 255, 255], /from 0 to 9, this one is -1/],
  ])('is not read from bytes that are %s', (_case, bytes, message) => {
    expect(() => decodeResponse(Uint8Array.from(bytes))).toThrow(
      expect.objectContaining({
        code: 'ERR_DATA_SET',
        message: expect.stringMatching(message),
      }),
    );
  });
});
