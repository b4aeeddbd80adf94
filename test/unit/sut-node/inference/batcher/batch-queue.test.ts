import { describe, expect, it } from 'vitest';
import {
  BatchQueue,
  removeOwner,
} from '../../../../../sut-node/inference/batcher/grouped-queue.ts';
import { RecordingOwner, waitingSample } from '../../../../scenes/simulated-run/sut-parts.ts';

// Goal: samples leave in the order in which they came, and never more wait than there is room for.
// Method: fill a queue of known size, wrap around its ring, take out.
describe('BatchQueue', () => {
  const idsOf = (samples: readonly { id: number }[]) => samples.map((sample) => sample.id);

  it('gives samples out oldest first, also where the ring wraps around', () => {
    const queue = new BatchQueue(4);
    for (let id = 0; id < 3; id += 1) queue.push(waitingSample(id));
    expect(idsOf(queue.shift(2))).toEqual([0, 1]);
    for (let id = 3; id < 6; id += 1) queue.push(waitingSample(id));
    expect(queue.oldest?.id).toBe(2);
    expect(idsOf(queue.shift(4))).toEqual([2, 3, 4, 5]);
    expect(queue.oldest).toBeUndefined();
  });

  it('refuses a sample when it is full, even where its ring is larger', () => {
    const queue = new BatchQueue(3);
    expect([0, 1, 2, 3].map((id) => queue.push(waitingSample(id)))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(queue.count).toBe(3);
  });

  it('drops the samples of one owner and keeps the order of the others', () => {
    const gone = new RecordingOwner();
    const queue = new BatchQueue(8);
    for (let id = 0; id < 6; id += 1) {
      queue.push(id % 2 === 0 ? waitingSample(id) : waitingSample(id, { owner: gone }));
    }
    expect(removeOwner(queue, gone)).toBe(3);
    expect(idsOf(queue.shift(3))).toEqual([0, 2, 4]);
  });
});
