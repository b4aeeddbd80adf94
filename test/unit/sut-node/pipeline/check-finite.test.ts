import { describe, expect, it } from 'vitest';
import { indexOfNotFinite } from '../../../../sut-node/pipeline/tensor-preprocessor.ts';

// Goal: no NaN and no infinity goes unseen, wherever it stands, and no finite number is taken for
// one. Method: one bad number at every place of a short tensor; the largest and smallest numbers
// there are.

const LENGTH = 11;
const BAD = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

describe('indexOfNotFinite', () => {
  it.each([
    ['float', (values: number[]) => Float32Array.from(values)],
    ['double', (values: number[]) => Float64Array.from(values)],
  ])('finds the place in a tensor of %s', (elementType, toElements) => {
    for (const bad of BAD) {
      for (let place = 0; place < LENGTH; place += 1) {
        const values = Array.from({ length: LENGTH }, (_, i) => (i === place ? bad : -i));
        const bytes = new Uint8Array(toElements(values).buffer);
        expect(indexOfNotFinite(bytes, elementType)).toBe(place);
      }
    }
  });

  it.each([
    ['float', Float32Array.of(3.4028234663852886e38, -3.4028234663852886e38, 1e-45, -0, 1)],
    ['double', Float64Array.of(Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, -0, 1)],
    ['float16', Uint16Array.of(0x7bff, 0xfbff, 0x0001, 0x8000)],
    ['uint16', Uint16Array.of(0x7c00, 0xffff)],
  ])('takes every finite number of %s', (elementType, elements) => {
    expect(indexOfNotFinite(new Uint8Array(elements.buffer), elementType)).toBe(-1);
  });

  it.each([0x7c00, 0xfc00, 0x7e01])('finds float16 of bits %i', (bits) => {
    const bytes = new Uint8Array(Uint16Array.of(0, 0x3c00, bits).buffer);
    expect(indexOfNotFinite(bytes, 'float16')).toBe(2);
  });

  it('reads numbers that lie where a typed array could not begin', () => {
    const bytes = new Uint8Array(9);
    bytes.set(new Uint8Array(Float32Array.of(1, Number.NaN).buffer), 1);
    expect(indexOfNotFinite(bytes.subarray(1), 'float')).toBe(1);
  });
});
