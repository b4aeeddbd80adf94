import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Deferred } from '../../../../../shared/base/async.ts';
import { type BorrowedBytes, copyOf } from '../../../../../shared/base/bytes/borrowed-bytes.ts';
import { type OnBytes, readInto } from '../../../../../sut-node/server/http2/onread-socket.ts';

// Goal: a connection that is read into the one buffer, and one that is read by its chunks, behave alike: all bytes, pauses, writes,
// half-closing, errors, the hand-over, and the listening socket that counts them. Method: real connections of node:net; for the
// second way the handle lacks what the first one needs, as that of another Node.js may.

/** Both ends of a connection. */
interface Ends {
  readonly server: Server;
  readonly client: Socket;
  /** As node:net accepted it. */
  readonly accepted: Socket;
  /** As {@link readInto} made it. */
  readonly socket: Socket;
  readonly handOver: () => void;
}

async function ends(isOneBuffer: boolean, onBytes: OnBytes): Promise<Ends> {
  const read = new Deferred<Pick<Ends, 'accepted' | 'socket' | 'handOver'>>();
  const server = createServer((accepted) => {
    if (!isOneBuffer) {
      const { _handle } = accepted as unknown as { _handle: object };
      Object.defineProperty(_handle, 'useUserBuffer', { value: undefined });
    }
    read.resolve({ accepted, ...readInto(accepted, onBytes) });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return { server, client, ...(await read.promise) };
}

/** Collects copies of what was read. */
class Collected {
  text = '';
  goesOn = true;
  readonly onBytes = (chunk: BorrowedBytes): boolean => {
    this.text += Buffer.from(copyOf(chunk)).toString('latin1');
    return this.goesOn;
  };
}

const count = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, n) => (error === null ? resolve(n) : reject(error)));
  });

describe.each([
  { way: 'into the one buffer', isOneBuffer: true },
  { way: 'by its chunks', isOneBuffer: false },
])('a connection that is read $way', ({ isOneBuffer }) => {
  it('takes that way on this Node.js', async () => {
    const { accepted, socket } = await ends(isOneBuffer, () => true);
    expect(socket === accepted).toBe(!isOneBuffer);
  });

  it('gets all bytes, and its answers arrive', async () => {
    const read = new Collected();
    const { client, socket } = await ends(isOneBuffer, read.onBytes);
    const answer = once(client, 'data');
    client.write('a'.repeat(2_000_000));
    await expect.poll(() => read.text.length).toBe(2_000_000);
    client.write('b');
    await expect.poll(() => read.text.at(-1)).toBe('b');
    socket.write('answer');
    expect(String((await answer)[0])).toBe('answer');
    expect(socket.remotePort).toBe(client.localPort);
  });

  it('reads no more when it is told so, until it is resumed', async () => {
    const read = new Collected();
    read.goesOn = false;
    const { client, socket } = await ends(isOneBuffer, read.onBytes);
    client.write('a');
    await expect.poll(() => read.text).toBe('a');
    client.write('b');
    // Time in which it would have come.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(read.text).toBe('a');
    read.goesOn = true;
    socket.resume();
    await expect.poll(() => read.text).toBe('ab');
  });

  it('is closed by the end of the peer, and the listening socket forgets it', async () => {
    const read = new Collected();
    const { client, server, socket } = await ends(isOneBuffer, read.onBytes);
    expect(await count(server)).toBe(1);
    const closed = once(socket, 'close');
    client.end('last');
    await closed;
    expect(read.text).toBe('last');
    await expect.poll(() => count(server)).toBe(0);
    const serverClosed = once(server, 'close');
    server.close();
    await serverClosed;
  });

  it('tells that the peer broke it', async () => {
    const { client, server, socket } = await ends(isOneBuffer, () => true);
    const failed = once(socket, 'error');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    client.resetAndDestroy();
    expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
    await closed;
    await expect.poll(() => count(server)).toBe(0);
  });

  it('sends its last bytes before it closes', async () => {
    const { client, server, socket } = await ends(isOneBuffer, () => true);
    let bytes = 0;
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const ended = once(client, 'end');
    socket.write(Buffer.alloc(3_000_000));
    socket.destroySoon();
    await ended;
    expect(bytes).toBe(3_000_000);
    await expect.poll(() => count(server)).toBe(0);
  });

  it('gives its chunks to whom it is handed over, what was put back first', async () => {
    const looked = new Collected();
    looked.goesOn = false;
    const { client, socket, handOver } = await ends(isOneBuffer, (chunk) => {
      const goesOn = looked.onBytes(chunk);
      handOver();
      return goesOn;
    });
    client.write('first');
    await expect.poll(() => looked.text).toBe('first');
    socket.pause();
    socket.unshift(Buffer.from('put back, '));
    const taken = new Collected();
    socket.on('data', (chunk: Buffer) => taken.onBytes(chunk));
    socket.resume();
    client.write('second');
    await expect.poll(() => taken.text).toBe('put back, second');
    expect(looked.text).toBe('first');
    // Whoever has it may pause it, as DecoupledSocket does.
    socket.pause();
    client.write('third');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(taken.text).toBe('put back, second');
    socket.resume();
    await expect.poll(() => taken.text).toBe('put back, secondthird');
  });
});
