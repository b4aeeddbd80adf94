import { describe, expect, it } from 'vitest';
import { checkFreeAxes } from '../../../../sut-node/pipeline/model-fit.ts';

// Goal: a description that has no effect is refused, and says what the model has.
describe('checkFreeAxes', () => {
  const inputs = [{ name: 'x', elementType: 'float', sampleShape: [3, 4] }];

  it('refuses padding where every sample has the same shape', () => {
    expect(() => checkFreeAxes({ inputs }, { freeAxes: 'pad' })).toThrow(
      /"freeAxes: pad" has no effect: no axis of a sample is free \(.*float \[3, 4\]\); leave it out/,
    );
  });

  it('takes it where there is something to pad, and leaves other descriptions alone', () => {
    checkFreeAxes({ inputs, lengthOf: () => 1 }, { freeAxes: 'pad' });
    checkFreeAxes({ inputs }, { freeAxes: 'group' });
    checkFreeAxes({ inputs }, {});
  });
});
