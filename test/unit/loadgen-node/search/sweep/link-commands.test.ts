import { expect, it } from 'vitest';
import { netemArgs } from '../../../../../loadgen-node/search/sweep/tc-link.ts';

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
