import { describe, expect, it } from 'vitest';
import {
  checkDispatchSettings,
  type DispatchSettings,
  defaultDispatchSettings,
} from '../../../qdl/index.ts';

// Goal: settings that contradict each other or a rule are refused with the flag to change.

const SETTINGS = { ...defaultDispatchSettings(['a:1', 'b:1']), benchmark: 'digits' };

describe('checkDispatchSettings', () => {
  it.each<Partial<DispatchSettings>>([
    {},
    { onNodeLoss: 'continue', division: 'open' },
    { policy: 'weighted', weights: [2, 1] },
    { streamsPerNode: 4, connectionsPerNode: 4, channelThreads: 8 },
  ])('takes %j', (more) => {
    expect(() => checkDispatchSettings({ ...SETTINGS, ...more })).not.toThrow();
  });

  it.each<[Partial<DispatchSettings>, RegExp]>([
    [{ onNodeLoss: 'continue' }, /--on-node-loss continue .* add --division open/],
    [{ policy: 'weighted', weights: [1] }, /--weights has 1 numbers for 2 SUT nodes/],
    [{ policy: 'weighted' }, /needs --weights/],
    [{ policy: 'round-robin', weights: [1, 2] }, /no effect with --policy round-robin/],
    [{ connectionsPerNode: 2 }, /--connections 2 is more than --streams 1/],
    [{ channelThreads: 3 }, /--channel-threads 3 is more than there are streams \(2\)/],
  ])('refuses %j', (more, message) => {
    expect(() => checkDispatchSettings({ ...SETTINGS, ...more })).toThrow(message);
  });
});
