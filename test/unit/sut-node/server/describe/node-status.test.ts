import { describe, expect, it } from 'vitest';
import { NodeStatus } from '../../../../../sut-node/server/describe/node-offer.ts';

// Goal: whoever asks a node that has failed hears that, and why, until it is closed.
describe('NodeStatus', () => {
  it('stays failed, whatever a start or a drain that goes on says', () => {
    const status = new NodeStatus();
    const told: string[] = [];
    status.onChange((state) => told.push(state));
    status.set('NODE_STATE_FAILED', 'no worker is left');
    status.set('NODE_STATE_WARMING_UP', 'warming up');
    status.set('NODE_STATE_READY', '');
    status.set('NODE_STATE_DRAINING', 'the end');
    expect([status.state, status.detail]).toEqual(['NODE_STATE_FAILED', 'no worker is left']);
    expect(told).toEqual(['NODE_STATE_FAILED']);
  });
});
