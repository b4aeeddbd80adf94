import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  cellsOf,
  linkText,
  parseLinkGrid,
} from '../../../../../loadgen-node/search/sweep/link-conditions.ts';
import { chooseLinkMaker } from '../../../../../loadgen-node/search/sweep/sweep-link.ts';
import { netemArgs } from '../../../../../loadgen-node/search/sweep/tc-link.ts';

// Goal: a grid means what a person would think, and what means nothing is refused with flag and value.
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

// Goal: tc is asked for the link that the sweep means, with a queue that holds what is on the way.
const LINK = { delayNs: 5e6, bitsPerSecond: 100e6, lossShare: 0 };
const LOSING = { ...LINK, lossShare: 0.001 };
const BARE = { delayNs: 0, bitsPerSecond: null, lossShare: 0 };

it.each([
  ['each way', LOSING, 5e6, 'limit 1042 delay 5000us loss 0.1% rate 100000000bit'],
  ['a round trip at once', LINK, 10e6, 'limit 1084 delay 10000us rate 100000000bit'],
  ['nothing', BARE, 0, 'limit 1000'],
])('shapes %s', (_case, link, delayNs, expected) => {
  expect(netemArgs(link, delayNs).join(' ')).toBe(expected);
});

// Goal: before anything starts a user reads everything that his machine lacks for links, and what a flag is for.
const VALUES = { delay: '0', rate: 'unlimited', loss: '0', lossSeed: 0, device: undefined };
const AUTO = { ...VALUES, with: 'auto' } as const;

afterEach(() => {
  vi.unstubAllEnvs();
});

it('names all that a machine lacks', async () => {
  vi.stubEnv('PATH', '/nowhere');
  const error = await chooseLinkMaker(AUTO, []).catch((one: Error) => one);
  expect(error).toMatchObject({ code: 'ERR_NOT_INSTALLED' });
  for (const command of ['ip', 'unshare', 'nsenter']) {
    expect(String(error)).toMatch(
      process.platform === 'linux' ? `the command ${command} (package ` : 'Linux',
    );
  }
});

it.each([
  [{ ...AUTO, device: 'eth1' }, [], '--device is for --sut'],
  [AUTO, ['10.0.0.2:1'], '--sut needs --device'],
  [{ ...VALUES, with: 'tap' } as const, ['10.0.0.2:1'], 'leave --sut out'],
])('refuses %j with nodes %j', async (values, sut, expected) => {
  await expect(chooseLinkMaker(values, sut)).rejects.toThrow(expected);
});
