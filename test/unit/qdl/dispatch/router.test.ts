import { describe, expect, it } from 'vitest';
import { createRouter, NodeLoad, type RoutedChannel } from '../../../../qdl/dispatch/router.ts';

// Goal: each policy sends queries where its name says, keeps a fast node busy where it can know,
// and never chooses a channel that cannot take the part. Method: channels that only count.

/** A channel that only counts. */
interface CountingChannel extends RoutedChannel {
  readonly place: { readonly nodeIndex: number; readonly load: NodeLoad };
  readonly outstanding: { count: number };
  isOpen: boolean;
}

function channels(weights: readonly number[], streamsPerNode = 1) {
  const loads = weights.map((weight) => new NodeLoad(weight, Number.POSITIVE_INFINITY));
  return Array.from({ length: weights.length * streamsPerNode }, (_, i): CountingChannel => {
    const nodeIndex = i % weights.length;
    return {
      place: { nodeIndex, load: loads[nodeIndex] as NodeLoad },
      outstanding: { count: 0 },
      isOpen: true,
      canTake() {
        return this.isOpen;
      },
    };
  });
}

/** Picks and counts one outstanding sample more; returns the number of the channel in the list. */
function picker(policy: Parameters<typeof createRouter>[0], scene: ReturnType<typeof channels>) {
  const router = createRouter(policy, scene);
  return (): number => {
    const picked = router(1, 1);
    if (picked === undefined) return -1;
    picked.outstanding.count += 1;
    picked.place.load.outstanding += 1;
    return scene.indexOf(picked);
  };
}

function times<T>(count: number, act: () => T): T[] {
  return Array.from({ length: count }, act);
}

describe('round-robin', () => {
  it('takes turns and passes over a channel that is full', () => {
    const scene = channels([1, 1, 1]);
    const pick = picker('round-robin', scene);
    expect(times(4, pick)).toEqual([0, 1, 2, 0]);
    (scene[1] as CountingChannel).isOpen = false;
    expect(times(4, pick)).toEqual([2, 0, 2, 0]);
  });
});

describe('weighted', () => {
  it('interleaves in proportion to the weights', () => {
    const pick = picker('weighted', channels([2, 1]));
    expect(times(6, pick)).toEqual([0, 1, 0, 0, 1, 0]);
  });

  it('uses the streams of a node in turn, and gives the turns of a full node to the others', () => {
    const scene = channels([1, 1], 2);
    const pick = picker('weighted', scene);
    expect(times(4, pick)).toEqual([0, 1, 2, 3]);
    for (const channel of scene) if (channel.place.nodeIndex === 0) channel.isOpen = false;
    expect(times(3, pick)).toEqual([1, 3, 1]);
  });
});

describe('least-outstanding', () => {
  it('takes turns among equals, over all streams', () => {
    expect(times(4, picker('least-outstanding', channels([1, 1], 2)))).toEqual([0, 1, 2, 3]);
  });

  it('keeps a node that is three times as fast three times as busy', () => {
    const scene = channels([1, 1]);
    const pick = picker('least-outstanding', scene);
    const served = [0, 0];
    const [fast, slow] = scene as [CountingChannel, CountingChannel];
    for (let tick = 0; tick < 3_000; tick += 1) {
      // Eight queries outstanding; the fast node answers one per tick, the slow one every third
      // tick.
      while (fast.place.load.outstanding + slow.place.load.outstanding < 8) pick();
      for (const [i, channel] of scene.entries()) {
        if ((i === 1 && tick % 3 !== 0) || channel.place.load.outstanding === 0) continue;
        channel.place.load.outstanding -= 1;
        channel.outstanding.count -= 1;
        served[i] = (served[i] ?? 0) + 1;
      }
    }
    // Both are busy all the time: nothing is lost by the slow one.
    expect(served).toEqual([3_000, 1_000]);
  });

  it('reckons with weights', () => {
    const scene = channels([3, 1]);
    const pick = picker('least-outstanding', scene);
    times(8, pick);
    expect(scene.map((channel) => channel.outstanding.count)).toEqual([6, 2]);
  });
});

describe.each(['round-robin', 'weighted', 'least-outstanding'] as const)('%s', (policy) => {
  it('finds nothing when no channel can take the part', () => {
    const scene = channels([1, 2], 2);
    for (const channel of scene) channel.isOpen = false;
    expect(picker(policy, scene)()).toBe(-1);
  });
});

describe('the load of a node', () => {
  it('refuses what goes beyond its limit', () => {
    const load = new NodeLoad(1, 4);
    load.outstanding = 3;
    expect([load.canTake(1), load.canTake(2)]).toEqual([true, false]);
  });
});
