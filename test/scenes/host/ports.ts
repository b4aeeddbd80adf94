import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port of loopback on which nobody listens: taken and given back just now. */
export async function freePort(): Promise<number> {
  const { port, release } = await occupiedPort();
  await release();
  return port;
}

/** A port of loopback on which somebody listens, until it is released. */
export async function occupiedPort(): Promise<{ port: number; release: () => Promise<void> }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const release = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    await closed;
  };
  return { port, release };
}
