import { describe, expect, it } from 'vitest';
import {
  cellsOf,
  linkText,
  parseLinkGrid,
} from '../../../../../loadgen-node/search/sweep/link-conditions.ts';
import { refuseFasterLink } from '../../../../../loadgen-node/search/sweep/link-hook.ts';

// Goal: a grid means what a person would think, and what means nothing is refused with flag and
// value.
describe('the grid of a sweep', () => {
  it('takes a unit for the numbers before it, and 0 without one', () => {
    const grid = parseLinkGrid({ delay: '0,1,5,10ms', rate: '100,250mbit,1gbit', loss: '0,0.1%' });
    expect(grid.delaysNs).toEqual([0, 1e6, 5e6, 10e6]);
    expect(grid.rates).toEqual([100e6, 250e6, 1e9]);
    expect(grid.lossShares).toEqual([0, 0.001]);
  });

  it('has a cell for each combination, and names it', () => {
    const grid = parseLinkGrid({ delay: '0,250us', rate: '1gbit,unlimited', loss: '0,0.1%' });
    expect(cellsOf(grid).map(linkText)).toEqual([
      '0ms 1gbit 0%',
      '0ms unlimited 0%',
      '0ms 1gbit 0.1%',
      '0ms unlimited 0.1%',
      '250us 1gbit 0%',
      '250us unlimited 0%',
      '250us 1gbit 0.1%',
      '250us unlimited 0.1%',
    ]);
  });

  it.each([
    ['a delay without a unit', { delay: '1,5' }, '--delay "1"'],
    ['a delay with the unit of a rate', { delay: '1mbit' }, '--delay "1mbit"'],
    ['an empty list', { delay: '' }, '--delay ""'],
    ['a negative delay', { delay: '-1ms' }, '--delay "-1ms"'],
    ['a delay of a minute', { delay: '1m' }, '--delay "1m"'],
    ['one delay twice', { delay: '1ms,1000us' }, 'names 1000us twice'],
    ['a rate of 0', { rate: '0mbit' }, '--rate "0mbit"'],
    ['a rate without a unit', { rate: '100' }, '--rate "100"'],
    ['a rate in bytes', { rate: '100mb' }, '--rate "100mb"'],
    ['a loss without a percent sign', { loss: '0.001' }, '--loss "0.001"'],
    ['a loss of all', { loss: '100%' }, '--loss "100%"'],
    [
      'too many cells',
      {
        delay: Array.from({ length: 1_001 }, (_, i) => `${i}us`).join(','),
      },
      '1001 cells',
    ],
  ])('refuses %s', (_case, said, expected) => {
    const texts = { delay: '0', rate: '1gbit', loss: '0', ...said };
    expect(() => parseLinkGrid(texts)).toThrow(expected);
  });
});

// Goal: a link is measured, not believed, and measurements that scatter refuse none. Method: rules
// of thumb by hand.
describe('a link that was measured', () => {
  const link = { delayNs: 5e6, bitsPerSecond: 100e6, lossShare: 0 };
  const check = (roundTripP50Ns: number, bitsPerSecond: number | null): void =>
    refuseFasterLink(link, { roundTripP50Ns, bitsPerSecond }, { asked: '5ms', seen: 'what it is' });

  it.each([
    ['a round trip below twice the delay', 9e6, 100e6],
    ['a rate far above its limit', 11e6, 160e6],
  ])('is refused for %s', (_case, roundTripNs, rate) => {
    expect(() => check(roundTripNs, rate)).toThrow(
      '--link-hook did not set the link: 5ms was requested, and what was seen is what it is',
    );
  });

  it.each([
    ['slower', 30e6, 10e6],
    ['about as requested', 9.9e6, 110e6],
    ['without a test of its rate', 10e6, null],
  ])('is taken where it is %s', (_case, roundTripNs, rate) => {
    expect(() => check(roundTripNs, rate)).not.toThrow();
  });
});
