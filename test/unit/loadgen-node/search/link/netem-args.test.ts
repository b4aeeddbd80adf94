import { expect, it } from 'vitest';
import { netemArgs } from '../../../../../loadgen-node/search/link/netem-args.ts';

// Goal: tc is asked for the link that the sweep means. Over loopback each direction passes the interface once.
it.each([
  [
    'lo',
    { delayNs: 5e6, bitsPerSecond: 100e6, lossShare: 0.001 },
    'limit 1042 delay 5000us loss 0.1% rate 100000000bit',
  ],
  [
    'eth1',
    { delayNs: 5e6, bitsPerSecond: 100e6, lossShare: 0 },
    'limit 1084 delay 10000us rate 100000000bit',
  ],
  ['lo', { delayNs: 0, bitsPerSecond: null, lossShare: 0 }, 'limit 1000'],
])('shapes %s', (device, link, expected) => {
  expect(netemArgs(device, link).join(' ')).toBe(expected);
});
