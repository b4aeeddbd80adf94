import { describe, expect, it } from 'vitest';
import { at } from '../../../../shared/base/at.ts';

// Goal: an index out of range is an error where it happens, not `undefined` somewhere else.
// Method: lists of several kinds, inside and outside of their range.
describe('at', () => {
  it.each([
    ['first', 0, 'a'],
    ['last', 2, 'c'],
  ])('gives the %s element', (_which, index, element) => {
    expect(at(['a', 'b', 'c'], index)).toBe(element);
  });

  it('gives elements that are falsy', () => {
    expect(at(new Uint8Array(2), 1)).toBe(0);
    expect(at(['x', null], 1)).toBeNull();
  });

  it.each([
    ['below the first', -1],
    ['behind the last', 3],
    ['between two', 0.5],
    ['no number', Number.NaN],
  ])('throws for an index that is %s', (_case, index) => {
    expect(() => at([1, 2, 3], index)).toThrow(
      new RangeError(`there is no element ${index} in a list of 3`),
    );
  });
});
