import { describe, expect, it } from 'vitest';
import { CreditBook } from '../../../../../sut-node/server/ledger/credit-book.ts';
import { RequestRoom } from '../../../../../sut-node/server/oip/request-room.ts';

// Goal: requests of the Open Inference Protocol share the queue with streams of the native one as
// one more of them, and leave nothing behind. Method: a book of small numbers.

const LIMITS = { bytesMax: 1_000, samplesMax: 320, sampleBytesMax: 100 };

describe('RequestRoom', () => {
  it('has the whole queue where nobody else is', () => {
    const book = new CreditBook(LIMITS);
    const room = new RequestRoom(book);
    expect(room.take(1, 1_001)).toBe(false);
    expect(room.take(321, 1)).toBe(false);
    expect(room.take(320, 1_000)).toBe(true);
    expect(room.take(1, 1)).toBe(false);
    expect(room.used).toEqual({ requests: 1, samples: 320, bytes: 1_000 });
    room.finish(320, 1_000);
    expect([book.heldSamples, book.heldBytes]).toEqual([0, 0]);
  });

  it('has a first grant beside a stream that holds everything, and its half once that gives back', () => {
    const book = new CreditBook(LIMITS);
    const native = book.open(() => {});
    native?.grow();
    native?.take(320, 1_000);
    const room = new RequestRoom(book);
    expect(room.take(11, 1)).toBe(false);
    expect(room.take(10, 100)).toBe(true);
    expect(room.take(1, 1)).toBe(false);
    native?.giveBack(320, 1_000);
    expect(room.take(150, 400)).toBe(true);
    expect(room.take(1, 1)).toBe(false);
    room.finish(10, 100);
    room.finish(150, 400);
    native?.close();
    expect([book.heldSamples, book.heldBytes]).toEqual([0, 0]);
  });

  it('wakes those who wait in turn, and tells who would wait for nothing', async () => {
    const room = new RequestRoom(new CreditBook(LIMITS));
    expect(room.whenMore(() => {})).toBe(false);
    const woken: string[] = [];
    const wait = (name: string): void => {
      room.whenMore(() => {
        woken.push(name);
        if (room.take(320, 1)) return;
        wait(name);
      });
    };
    room.take(320, 1);
    for (const name of ['a', 'b', 'c']) wait(name);
    for (let i = 0; i < 3; i += 1) {
      room.finish(320, 1);
      await Promise.resolve();
      await Promise.resolve();
    }
    // The one that finds no more room stands behind those that were not asked.
    expect(woken).toEqual(['a', 'b', 'c', 'b', 'b']);
    expect(room.used.requests).toBe(1);
  });
});
