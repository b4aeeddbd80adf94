import { describe, expect, it } from 'vitest';
import { SharedSlabs } from '../../../../../loadgen-node/samples/qsl/sample-store.ts';
import { SharedReader } from '../../../../../qdl/native/channel/threads/transport-threads.ts';
import { defaultDispatchSettings } from '../../../../../qdl/settings/dispatch-settings.ts';

// Goal: what the sample library holds in shared memory is what a thread reads there; room is used again
// between sets; a payload larger than a slab has one of its own.

function readerOf(slabs: SharedSlabs): SharedReader {
  const { places, hasPreparedQueries } = slabs;
  const settings = defaultDispatchSettings(['a:1']);
  const reader = new SharedReader({ settings, places, hasPreparedQueries });
  slabs.onSlab((slab) => reader.addSlab(slab));
  return reader;
}

describe('shared slabs', () => {
  it('hold payloads that another thread can read', () => {
    const slabs = new SharedSlabs(3, true);
    slabs.hold(2, Uint8Array.of(1, 2, 3), 3);
    const reader = readerOf(slabs);
    slabs.hold(0, Uint8Array.of(4), 10);
    expect([...reader.payloadOf(2)]).toEqual([1, 2, 3]);
    expect([...reader.payloadOf(0)]).toEqual([4]);
    expect(reader.preparedQueryPayload?.(0)).toEqual({
      payload: Uint8Array.of(4),
      sampleBytes: [10],
    });
  });

  it('are used again once all samples are unloaded', () => {
    const slabs = new SharedSlabs(2, false);
    const reader = readerOf(slabs);
    const first = slabs.hold(0, Uint8Array.of(1), 1);
    slabs.release();
    const second = slabs.hold(1, Uint8Array.of(2), 1);
    expect([second.buffer, second.byteOffset]).toEqual([first.buffer, first.byteOffset]);
    expect([...reader.payloadOf(1)]).toEqual([2]);
    expect(reader.preparedQueryPayload).toBeUndefined();
  });

  it('grow by a slab when one is full, and by a larger one for a larger payload', () => {
    const slabs = new SharedSlabs(3, false);
    const sizes: number[] = [];
    slabs.onSlab((slab) => sizes.push(slab.byteLength));
    slabs.hold(0, new Uint8Array(40 << 20), 1);
    slabs.hold(1, new Uint8Array(40 << 20).fill(7), 1);
    slabs.hold(2, new Uint8Array(65 << 20), 1);
    expect(sizes).toEqual([64 << 20, 64 << 20, 65 << 20]);
    expect(readerOf(slabs).payloadOf(1)[12_345]).toBe(7);
  });
});
