import { describe, expect, it } from 'vitest';
import { sha256Words } from '../../../../../shared/evidence/payload-digest.ts';
import {
  DigestThread,
  type DigestWorkerEvents,
} from '../../../../../sut-node/server/digest/digest-thread.ts';

// Goal: every payload gets its digest, on the thread or beside it, and none is forgotten when the
// thread ends. Method: a thread that answers when the test says so.

const LARGE = 100_000;

class FakeThread {
  readonly payloads: Uint8Array[] = [];
  events: DigestWorkerEvents | undefined;
  spawnCount = 0;
  isStopped = false;

  readonly spawn = (events: DigestWorkerEvents) => {
    this.spawnCount += 1;
    this.events = events;
    return {
      post: (payload: Uint8Array) => this.payloads.push(payload),
      stop: async () => {
        this.isStopped = true;
        events.onEnd();
      },
    };
  };

  answer(): void {
    for (const payload of this.payloads.splice(0)) this.events?.onDigest(sha256Words([payload]));
  }
}

function scene(backlogBytesMax?: number) {
  const fake = new FakeThread();
  const thread = new DigestThread(fake.spawn, backlogBytesMax);
  const digests: (Uint32Array | undefined)[] = [];
  const digest = (...pieces: Uint8Array[]): void => {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    thread.digest(pieces, bytes, (words) => digests.push(words));
  };
  return { fake, thread, digests, digest };
}

const filled = (value: number, bytes = LARGE): Uint8Array => new Uint8Array(bytes).fill(value);

describe('DigestThread', () => {
  it('has a large payload digested by the thread, as it was when it came', () => {
    const { fake, thread, digests, digest } = scene();
    thread.prepare();
    thread.prepare();
    const [head, tail] = [filled(1), filled(2)];
    digest(head, tail);
    head.fill(9);
    expect(digests).toEqual([]);
    fake.answer();
    expect(digests).toEqual([sha256Words([filled(1), filled(2)])]);
    expect(fake.spawnCount).toBe(1);
  });

  it.each<[string, number, number]>([
    ['a small payload', 100, 2 ** 20],
    ['a payload that does not fit the backlog', LARGE, LARGE - 1],
  ])('digests %s at once', (_case, bytes, backlogBytesMax) => {
    const { fake, thread, digests, digest } = scene(backlogBytesMax);
    thread.prepare();
    digest(filled(1, bytes));
    expect(digests).toEqual([sha256Words([filled(1, bytes)])]);
    expect(fake.payloads).toEqual([]);
  });

  it('gives room back when the thread has answered', () => {
    const { fake, thread, digests, digest } = scene(LARGE);
    thread.prepare();
    digest(filled(1));
    digest(filled(2)); // No room: at once, before the first.
    expect(digests).toEqual([sha256Words([filled(2)])]);
    fake.answer();
    digest(filled(3));
    expect(fake.payloads).toHaveLength(1);
  });

  it('says of the payloads of a thread that ends that they have no digest, and goes on without it', () => {
    const { fake, thread, digests, digest } = scene();
    thread.prepare();
    digest(filled(1));
    fake.events?.onEnd();
    expect(digests).toEqual([undefined]);
    digest(filled(2));
    expect(digests[1]).toEqual(sha256Words([filled(2)]));
  });

  it('ends its thread when it is stopped', async () => {
    const { fake, thread } = scene();
    thread.prepare();
    await thread.stop();
    expect(fake.isStopped).toBe(true);
  });
});
