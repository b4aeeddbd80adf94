import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FLAG, FRAME_TYPE } from '../../../../../shared/http2/frames.ts';
import { DecoupledSocket } from '../../../../../sut-node/server/guard/decoupled-socket.ts';
import { UNREAD_BYTES_MAX } from '../../../../../sut-node/server/limits/node-limits.ts';
import { frame, settingsOf } from '../../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: what waits for a peer is bounded, reading goes on meanwhile, no byte is lost, and who takes
// nothing is closed. Method: real TCP on loopback; the peer reads when the test says so.

const MIB = 1024 * 1024;

interface Pair {
  readonly near: DecoupledSocket;
  readonly peer: Socket;
  /** Bytes that the peer has read; each is the number of its MiB. */
  readonly received: Buffer[];
}

async function pair(stallMs: number, settingsAnswered = 0): Promise<Pair> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const peer = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  const near = new DecoupledSocket(socket, stallMs, settingsAnswered);
  const received: Buffer[] = [];
  peer.on('data', (bytes) => received.push(bytes));
  peer.on('error', () => {});
  peer.pause();
  onTestFinished(() => {
    peer.destroy();
    near.destroy();
    server.close();
  });
  return { near, peer, received };
}

/** Writes so many MiB, each filled with its number; returns which are done. */
function writeMiB(near: DecoupledSocket, count: number): { doneCount: number } {
  const written = { doneCount: 0 };
  for (let i = 0; i < count; i += 1) {
    near.write(Buffer.alloc(MIB, i), () => {
      written.doneCount += 1;
    });
  }
  return written;
}

/** Resolves when no more writes are done than before, for some turns of the event loop. */
async function settled(written: { doneCount: number }): Promise<number> {
  let before = -1;
  while (before !== written.doneCount) {
    before = written.doneCount;
    await sleep(100);
  }
  return before;
}

const COUNT = 96;
const boundMiB = UNREAD_BYTES_MAX / MIB;

describe('DecoupledSocket', () => {
  it('sends small messages at once, as node:http2 asks of a plain socket', async () => {
    const setNoDelay = vi.spyOn(Socket.prototype, 'setNoDelay');
    onTestFinished(() => setNoDelay.mockRestore());
    await pair(1_000);
    expect(setNoDelay.mock.calls).toEqual([[true]]);
  });

  it('takes writes up to its bound, and the rest when the peer reads', async () => {
    const { near, peer, received } = await pair(60_000);
    const written = writeMiB(near, COUNT);
    await expect.poll(() => written.doneCount).toBeGreaterThanOrEqual(boundMiB);
    const doneCount = await settled(written);
    // The system's buffers of both ends hold some.
    expect(doneCount).toBeLessThan(boundMiB + 32);
    near.end();
    peer.resume();
    await once(peer, 'end');
    expect(written.doneCount).toBe(COUNT);
    const bytes = Buffer.concat(received);
    const expected = Buffer.concat(Array.from({ length: COUNT }, (_, i) => Buffer.alloc(MIB, i)));
    expect(bytes.equals(expected)).toBe(true);
  });

  it('reads while a write is held back', async () => {
    const { near, peer } = await pair(60_000);
    await settled(writeMiB(near, COUNT));
    let bytes = 0;
    near.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    peer.write(Buffer.alloc(16 * MIB));
    await expect.poll(() => bytes).toBe(16 * MIB);
  });

  it('closes the connection of a peer that takes nothing, whatever it sends', async () => {
    const { near, peer } = await pair(500);
    near.resume();
    const chatter = setInterval(() => peer.write('x'), 20);
    onTestFinished(() => clearInterval(chatter));
    writeMiB(near, boundMiB / 2);
    await once(near, 'close');
    expect(peer.readableFlowing).toBe(false);
  });

  it('serves a peer that reads slowly but steadily', async () => {
    const { near, peer, received } = await pair(1_500);
    writeMiB(near, COUNT);
    near.end();
    // Longer than the limit, and never all of it.
    for (const end = performance.now() + 3_000; performance.now() < end; ) {
      peer.once('data', () => peer.pause());
      peer.resume();
      await sleep(5);
    }
    expect(near.destroyed).toBe(false);
    peer.resume();
    await once(peer, 'end');
    expect(received.reduce((sum, { length }) => sum + length, 0)).toBe(COUNT * MIB);
  });

  it.each([1, 8, 9, 10, 1_000])(
    'keeps the first answers to SETTINGS back, in writes of %i bytes',
    async (bytes) => {
      const { settings, headers } = FRAME_TYPE;
      const own = frame(settings, 0, 0, settingsOf({ 4: 100_000 }));
      const answer = frame(settings, FLAG.ack, 0);
      const head = frame(headers, FLAG.endHeaders, 1, Buffer.from('an answer'));
      const { near, peer, received } = await pair(1_000, 2);
      const sent = Buffer.concat([own, answer, head, answer, head, answer, head]);
      for (let at = 0; at < sent.length; at += bytes) near.write(sent.subarray(at, at + bytes));
      near.end();
      peer.resume();
      await once(peer, 'end');
      expect(Buffer.concat(received)).toEqual(Buffer.concat([own, head, head, answer, head]));
    },
  );

  it('leaves a quiet connection open', async () => {
    const { near, peer, received } = await pair(100);
    peer.resume();
    await sleep(300);
    near.write('late');
    await expect.poll(() => Buffer.concat(received).toString()).toBe('late');
    await sleep(300);
    expect(near.destroyed).toBe(false);
  });
});
