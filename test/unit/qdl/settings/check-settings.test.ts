import { describe, expect, it } from 'vitest';
import {
  checkDispatchSettings,
  type DispatchSettings,
  defaultDispatchSettings,
} from '../../../../qdl/index.ts';
import { OIP_SERVICE_NAME } from '../../../../shared/wire/oip/request-plan.ts';
import { oipPlan } from '../../../scenes/oip-server/oip-qdl.ts';

// Goal: settings that contradict each other or a rule are refused with the flag to change.

const SETTINGS = { ...defaultDispatchSettings(['a:1', 'b:1']), benchmark: 'digits' };

const OIP = { name: 'oip', service: OIP_SERVICE_NAME, model: { name: 'echo', version: '' } };

describe('checkDispatchSettings', () => {
  it.each<Partial<DispatchSettings>>([
    {},
    { onNodeLoss: 'continue', division: 'open' },
    { policy: 'weighted', weights: [2, 1] },
    { streamsPerNode: 4, connectionsPerNode: 4 },
    { protocol: OIP, connectionsPerNode: 4 },
    { protocol: { ...OIP, ...{ plan: oipPlan('unary') } }, connectionsPerNode: 4 },
    {
      protocol: { ...OIP, ...{ plan: oipPlan('stream') } },
      streamsPerNode: 4,
      connectionsPerNode: 4,
    },
  ])('takes %j', (more) => {
    expect(() => checkDispatchSettings({ ...SETTINGS, ...more })).not.toThrow();
  });

  it.each<[Partial<DispatchSettings>, RegExp]>([
    [{ onNodeLoss: 'continue' }, /--on-node-loss continue .* add --division open/],
    [{ policy: 'weighted', weights: [1] }, /--weights has 1 numbers for 2 SUT nodes/],
    [{ policy: 'weighted' }, /needs --weights/],
    [{ policy: 'round-robin', weights: [1, 2] }, /no effect with --policy round-robin/],
    [{ connectionsPerNode: 2 }, /--connections 2 is more than --streams 1/],
    [
      { protocol: OIP, encoding: { form: 'raw', compression: 'lz4' } },
      /use --compression identity/,
    ],
    [
      { protocol: { ...OIP, ...{ plan: oipPlan('unary') } }, streamsPerNode: 2 },
      /--streams 2 is for --oip-method stream; .* use --connections/,
    ],
    [
      { protocol: { ...OIP, ...{ plan: oipPlan('stream') } }, connectionsPerNode: 2 },
      /--connections 2 is more than --streams 1/,
    ],
  ])('refuses %j', (more, message) => {
    expect(() => checkDispatchSettings({ ...SETTINGS, ...more })).toThrow(message);
  });
});
