import { describe, expect, it } from 'vitest';
import { parseLoads } from '../../../../../loadgen-node/search/curve/parse-loads.ts';

const RATES = { max: 1e9, isWhole: false };
const COUNTS = { max: 65_536, isWhole: true };

// Goal: loads are what the text says, rising; a wrong text is answered with what would be right.
// Method: texts as on the command line.
describe('loads of a curve', () => {
  it.each([
    ['10,20,50', RATES, [10, 20, 50]],
    [' 50, 10 ,10', RATES, [10, 50]],
    ['0.5', RATES, [0.5]],
    ['10..500/3', RATES, [10, 70.7, 500]],
    ['1..64', COUNTS, [1, 2, 4, 8, 16, 32, 64]],
    ['1..48', COUNTS, [1, 2, 4, 8, 16, 32, 48]],
    ['1..10/3', COUNTS, [1, 3, 10]],
    ['1..3/8', COUNTS, [1, 2, 3]],
  ])('%s', (text, kind, loads) => {
    expect(parseLoads(text, kind)).toEqual(loads);
  });

  it('makes 8 rates of a range, evenly on a logarithmic scale', () => {
    const loads = parseLoads('10..500', RATES) as number[];
    expect(loads).toHaveLength(8);
    expect([loads[0], loads[7]]).toEqual([10, 500]);
    expect(loads[4] as number).toBeCloseTo(93.5);
  });

  it.each([
    ['', RATES, 'must be a number above 0'],
    ['0', RATES, 'must be a number above 0'],
    ['10,x', RATES, '"x" must be a number above 0'],
    ['1.5', COUNTS, '"1.5" must be a whole number from 1 to 65536'],
    ['70000', COUNTS, 'from 1 to 65536'],
    ['50..10', RATES, 'a range rises: 50..10 does not'],
    ['10..', RATES, 'must be a number above 0'],
    ['1..2..3', RATES, 'give a list or a range, for example 10,20,50,100 or 10..500/8'],
    ['10..500/1', RATES, 'behind the / stands how many loads, 2 to 64, not "1"'],
    ['10..500/many', RATES, 'not "many"'],
    ['10..500/4/4', RATES, 'give a list or a range'],
    [Array.from({ length: 65 }, (_, i) => i + 1).join(), COUNTS, 'at most 64 loads, not 65'],
  ])('refuses "%s"', (text, kind, message) => {
    expect(parseLoads(text, kind)).toContain(message);
  });
});
