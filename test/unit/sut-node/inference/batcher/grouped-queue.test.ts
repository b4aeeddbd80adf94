import { describe, expect, it } from 'vitest';
import {
  GroupedQueue,
  removeOwner,
} from '../../../../../sut-node/inference/batcher/grouped-queue.ts';
import type { WaitingSample } from '../../../../../sut-node/inference/batcher/sut-model.ts';
import { RecordingOwner, waitingSample } from '../../../../scenes/simulated-run/sut-parts.ts';

const idsOf = (samples: readonly { id: number }[]) => samples.map((sample) => sample.id);

function setUp(capacity: number, lineMin = 2) {
  const queue = new GroupedQueue({ capacity, lineMin, groupOf: (sample) => sample.form });
  return queue;
}

// Goal: in each group, and over all, the oldest goes first, whatever comes and goes in between.
// Method: the form is the group; a plain list is the model that the queue is compared with.
describe('GroupedQueue', () => {
  it('gives the line of the oldest sample, and of the long lines the one with the oldest', () => {
    const queue = setUp(8);
    for (const [id, form] of [2, 1, 1, 3, 3, 3].entries()) queue.push(waitingSample(id, { form }));
    expect(queue.front?.oldest?.id).toBe(0);
    expect(queue.frontOf(2)?.oldest?.id).toBe(1);
    expect(queue.frontOf(3)?.oldest?.id).toBe(3);
    expect(queue.frontOf(4)).toBeUndefined();
    expect(idsOf(queue.frontOf(2)?.shift(2) ?? [])).toEqual([1, 2]);
    expect(queue.frontOf(2)?.oldest?.id).toBe(3);
  });

  it('uses its slots again, and refuses a sample when all are taken', () => {
    const queue = setUp(3);
    for (let round = 0; round < 5; round += 1) {
      for (let form = 0; form < 3; form += 1) {
        expect(queue.push(waitingSample(form, { form }))).toBe(true);
      }
      expect(queue.push(waitingSample(9))).toBe(false);
      expect(idsOf(queue.removeAll())).toEqual([0, 1, 2]);
    }
  });

  it('drops the samples of one owner and keeps the order of the others', () => {
    const gone = new RecordingOwner();
    const queue = setUp(8);
    for (let id = 0; id < 6; id += 1) {
      queue.push(waitingSample(id, { form: id % 2, ...(id < 3 ? { owner: gone } : {}) }));
    }
    expect(removeOwner(queue, gone)).toBe(3);
    expect(queue.count).toBe(3);
    expect(idsOf(queue.removeAll())).toEqual([3, 4, 5]);
  });

  it('does what a plain list would do, over many pushes and shifts', () => {
    const queue = setUp(32);
    let list: WaitingSample[] = [];
    let random = 1;
    const next = (below: number): number => {
      random = (random * 16_807) % 2_147_483_647;
      return random % below;
    };
    for (let id = 0; id < 4_000; id += 1) {
      const sample = waitingSample(id, { form: next(5) });
      expect(queue.push(sample)).toBe(list.length < 32);
      if (list.length < 32) list.push(sample);
      if (next(3) > 0) continue;
      const least = 2 + next(4);
      const line = next(2) === 0 ? queue.front : queue.frontOf(least);
      const lineOf = (form: number) => list.filter((one) => one.form === form);
      const isLong = (one: WaitingSample) =>
        line === queue.front || lineOf(one.form).length >= least;
      const oldest = list.find(isLong);
      expect(line?.oldest).toBe(oldest);
      if (line === undefined || oldest === undefined) continue;
      const expected = lineOf(oldest.form).slice(0, 1 + next(line.count));
      expect(line.shift(expected.length)).toEqual(expected);
      list = list.filter((one) => !expected.includes(one));
      expect(queue.count).toBe(list.length);
    }
    expect(queue.removeAll()).toEqual(list);
  });
});
