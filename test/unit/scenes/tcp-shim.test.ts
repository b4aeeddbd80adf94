import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { TcpShim } from '../../scenes/sut-node/tcp-shim.ts';

// Goal: a slow link delays and never reorders: bytes in another order are another message to
// whoever reads them.
it('keeps the order of many small writes on a slow link', async () => {
  const received: Buffer[] = [];
  const target = createServer((socket) => socket.on('data', (bytes) => received.push(bytes)));
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  const { port } = target.address() as AddressInfo;
  const shim = await TcpShim.start(`127.0.0.1:${port}`, { bytesPerSecond: 4e6 });
  const socket = connect({ port: Number(shim.address.split(':')[1]), noDelay: true });
  await once(socket, 'connect');
  const sent: number[] = [];
  for (let i = 0; i < 400; i += 1) {
    const bytes = Buffer.alloc(1 + ((i * 37) % 3_000), i % 251);
    sent.push(...bytes);
    socket.write(bytes);
    if (i % 3 === 0) await new Promise((resolve) => setTimeout(resolve, i % 2));
  }
  await expect.poll(() => Buffer.concat(received).length).toBe(sent.length);
  expect(Buffer.compare(Buffer.concat(received), Buffer.from(sent))).toBe(0);
  socket.destroy();
  shim.stop();
  target.close();
});
