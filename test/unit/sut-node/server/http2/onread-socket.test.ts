import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Deferred } from '../../../../../shared/base/async.ts';
import { type BorrowedBytes, copyOf } from '../../../../../shared/base/bytes/borrowed-bytes.ts';
import { readInto } from '../../../../../sut-node/server/http2/onread-socket.ts';

// Goal: a connection that is read into the one buffer, and one that is read by its chunks, behave
// alike: all bytes in their order, writes, half-closing, errors, and the listening socket that
// counts them. Method: real connections of node:net; for the second way the handle lacks what the
// first one needs, as that of another Node.js may.

/** Both ends of a connection. */
interface Ends {
  readonly server: Server;
  readonly client: Socket;
  /** The accepted end. */
  readonly socket: Socket;
}

/** A connection, its end that {@link readInto} reads, and what was read. */
class Reading {
  text = '';
  isIntoBuffer: boolean | undefined;

  async open(isOneBuffer: boolean): Promise<Ends> {
    const accepted = new Deferred<Socket>();
    const server = createServer((socket) => {
      if (!isOneBuffer) {
        const { _handle } = socket as unknown as { _handle: object };
        Object.defineProperty(_handle, 'useUserBuffer', { value: undefined });
      }
      accepted.resolve(socket);
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
    return { server, client, socket: await accepted.promise };
  }

  begin(socket: Socket): void {
    this.isIntoBuffer = readInto(socket, (chunk: BorrowedBytes) => {
      this.text += Buffer.from(copyOf(chunk)).toString('latin1');
    });
  }
}

async function ends(isOneBuffer: boolean): Promise<Ends & { readonly read: Reading }> {
  const read = new Reading();
  const opened = await read.open(isOneBuffer);
  read.begin(opened.socket);
  return { ...opened, read };
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
    const { read } = await ends(isOneBuffer);
    expect(read.isIntoBuffer).toBe(isOneBuffer);
  });

  it('gets all bytes, and its answers arrive', async () => {
    const { client, socket, read } = await ends(isOneBuffer);
    const answer = once(client, 'data');
    client.write('a'.repeat(2_000_000));
    await expect.poll(() => read.text.length).toBe(2_000_000);
    client.write('b');
    await expect.poll(() => read.text.at(-1)).toBe('b');
    socket.write('answer');
    expect(String((await answer)[0])).toBe('answer');
    expect(socket.remotePort).toBe(client.localPort);
  });

  it('gets what comes behind a chunk that was read before, in its order', async () => {
    const read = new Reading();
    const { client, socket } = await read.open(isOneBuffer);
    socket.once('data', (first: Buffer) => {
      read.text = String(first);
      read.begin(socket);
    });
    // More than one read takes: the rest comes in the same turn of the event loop.
    const sent = `first${'-'.repeat(300_000)}last`;
    client.write(sent);
    await expect.poll(() => read.text.length).toBe(sent.length);
    expect(read.text === sent).toBe(true);
  });

  it('is closed by the end of the peer, and the listening socket forgets it', async () => {
    const { client, server, socket, read } = await ends(isOneBuffer);
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
    const { client, server, socket } = await ends(isOneBuffer);
    const failed = once(socket, 'error');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    client.resetAndDestroy();
    expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
    await closed;
    await expect.poll(() => count(server)).toBe(0);
  });

  it('sends its last bytes before it closes', async () => {
    const { client, server, socket } = await ends(isOneBuffer);
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
});
