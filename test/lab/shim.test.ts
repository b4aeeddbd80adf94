import { createHash, randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { LinkShim } from '../../loadgen-node/search/link/link-shim.ts';
import { measureShim } from '../../loadgen-node/search/link/measure-shim.ts';

// Goal: every byte comes through the shim, in order, not sooner than the link lets it, and ends and resets do as well.
// Method: real sockets and the real thread. What is measured is a bound that holds on a busy machine, too.
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function serve(onSocket: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    onSocket(socket);
  });
  closing.push(() => server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`127.0.0.1:${(server.address() as { port: number }).port}`);
    });
  });
}

async function through(
  target: string,
  link: Parameters<typeof LinkShim.start>[1],
): Promise<Socket> {
  const shim = await LinkShim.start([target], link, 1);
  closing.push(() => shim.stop());
  const port = Number(shim.addresses[0]?.split(':')[1]);
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  // Shims of earlier tests reset what is open when they end.
  socket.on('error', () => socket.destroy());
  closing.push(() => socket.destroy());
  return socket;
}

describe('the shim', () => {
  it.each([
    ['bare', { delayNs: 0, bitsPerSecond: null, lossShare: 0 }],
    ['slow', { delayNs: 2e6, bitsPerSecond: 100e6, lossShare: 0 }],
    ['losing', { delayNs: 2e6, bitsPerSecond: 1e9, lossShare: 0.01 }],
  ])(
    'brings 4 MB there and back unchanged through a %s link, and then the end',
    async (_name, link) => {
      const target = await serve((socket) => socket.pipe(socket));
      const socket = await through(target, link);
      const sent = randomBytes(4_000_000);
      const began = performance.now();
      socket.end(sent);
      const hash = createHash('sha256');
      for await (const bytes of socket) hash.update(bytes as Buffer);
      expect(hash.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'));
      const atLeastMs =
        (2 * link.delayNs) / 1e6 + (sent.length * 8e3) / (link.bitsPerSecond ?? 1e15);
      expect(performance.now() - began).toBeGreaterThanOrEqual(atLeastMs - 1);
    },
  );

  it('reads no further than its queue while the receiver takes nothing', async () => {
    const target = await serve((socket) => socket.pause());
    const socket = await through(target, { delayNs: 0, bitsPerSecond: 1e6, lossShare: 0 });
    socket.write(new Uint8Array(64_000_000));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(socket.writableLength).toBeGreaterThan(40_000_000);
  });

  it('breaks the connection when the node does', async () => {
    const target = await serve((socket) => socket.on('data', () => socket.resetAndDestroy()));
    const socket = await through(target, { delayNs: 1e6, bitsPerSecond: null, lossShare: 0 });
    const failed = new Promise<NodeJS.ErrnoException>((resolve) => socket.once('error', resolve));
    socket.resume();
    socket.write('x');
    expect((await failed).code).toBe('ECONNRESET');
  });

  it('tells what it does: never faster and never sooner than asked', async () => {
    const seen = await measureShim({ delayNs: 5e6, bitsPerSecond: 50e6, lossShare: 0.5 });
    expect(seen.roundTripP50Ns).toBeGreaterThanOrEqual(9.5e6);
    expect(seen.roundTripP99Ns).toBeGreaterThanOrEqual(seen.roundTripP50Ns);
    expect(seen.bitsPerSecond).toBeLessThan(50e6 * 1.02);
  });

  // 64 KiB at 10 kbit/s would be 52 s: a link is no slower than its own time says.
  it('measures a link on which a segment takes more than a second', {
    timeout: 40_000,
  }, async () => {
    const seen = await measureShim({ delayNs: 0, bitsPerSecond: 10e3, lossShare: 0 });
    expect(seen.bitsPerSecond).toBeGreaterThan(5e3);
    expect(seen.bitsPerSecond).toBeLessThan(10.5e3);
  });
});
