import { readFileSync } from 'node:fs';
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type ServerHttp2Stream,
} from 'node:http2';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { NO_SECURITY } from '../../../shared/security/client-security.ts';
import {
  callUnary,
  connectTo,
  grpcMessage,
  RecordedCall,
  RecordedConnection,
} from '../../scenes/oip-server/raw-http2-peer.ts';
import { HAS_OPENSSL, TestCertificates } from '../../scenes/sut-node/certificates.ts';

// Goal: our HTTP/2 client and the servers of others understand each other: node:http2 with windows
// and limits of all sizes, grpc-js with and without TLS.

const asIs = (bytes: Buffer): Buffer => bytes;
const method = (path: string, isStream: boolean) => ({
  path,
  requestStream: isStream,
  responseStream: isStream,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
});

/** Answers each call with its own message. */
function echoByHttp2(stream: ServerHttp2Stream): void {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', () => {});
  stream.on('end', () => {
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.concat(chunks));
  });
}

async function addressOf(server: Http2Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return `127.0.0.1:${address.port}`;
}

const closers: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe('against node:http2', () => {
  it('moves large messages through small windows and few streams, both ways', async () => {
    const server = createServer({
      settings: { initialWindowSize: 65_535, maxConcurrentStreams: 4 },
    });
    let openMax = 0;
    let open = 0;
    server.on('stream', (stream) => {
      open += 1;
      openMax = Math.max(openMax, open);
      stream.on('close', () => {
        open -= 1;
      });
      echoByHttp2(stream);
    });
    const connection = connectTo(await addressOf(server), undefined, {
      receiveWindowBytes: 65_535,
    });
    closers.push(
      async () => server.close(),
      () => connection.close(),
    );
    await connection.ready;
    const sizes = [1 << 20, 3, 0, 1 << 20, 70_000, 65_530, 65_531, 16_379, 16_380, 1 << 20];
    const messages = sizes.map((size, i) => Buffer.alloc(size, `message ${i} `));
    const ends = await Promise.all(messages.map((message) => callUnary(connection, message).ended));
    ends.forEach(({ code, messages: [answer] }, i) => {
      expect(code).toBe(0);
      expect(answer?.equals(messages[i] as Buffer)).toBe(true);
    });
    expect(openMax).toBe(4);
  });

  it('hears GOAWAY in the middle of a run, finishes what was taken and goes on', async () => {
    const server = createServer();
    const streams: ServerHttp2Stream[] = [];
    server.on('stream', (stream) => {
      streams.push(stream);
      if (streams.length < 5) return;
      if (streams.length === 5) stream.session?.close();
      for (const each of streams.length === 5 ? streams : [stream]) echoByHttp2(each);
    });
    const events = new RecordedConnection();
    const connection = connectTo(await addressOf(server), events);
    closers.push(
      async () => server.close(),
      () => connection.close(),
    );
    const calls = Array.from({ length: 5 }, (_, i) => callUnary(connection, Buffer.of(i)));
    for (const call of calls) expect((await call.ended).code).toBe(0);
    expect((await callUnary(connection, Buffer.of(9)).ended).code).toBe(0);
    expect(events.handOvers).toEqual(['the server is closing the connection']);
    expect(events.closed).toEqual([]);
  });

  it('speaks HTTP/2 over TLS only with a server that agrees to it', async () => {
    if (!HAS_OPENSSL) return;
    const { node, ca } = new TestCertificates();
    const server = createSecureServer({
      cert: readFileSync(node.cert),
      key: readFileSync(node.key),
    });
    server.on('stream', echoByHttp2);
    const security = { ...NO_SECURITY, tls: true, tlsCa: ca };
    const connection = connectTo(await addressOf(server), undefined, { security });
    closers.push(
      async () => server.close(),
      () => connection.close(),
    );
    const { messages } = await callUnary(connection, Buffer.from('by TLS')).ended;
    expect(messages).toEqual([grpcMessage(Buffer.from('by TLS')).subarray(5)]);
  });
});

describe('against grpc-js', () => {
  async function startEcho(credentials: ServerCredentials): Promise<string> {
    const server = new Server({ 'grpc.max_receive_message_length': -1 });
    server.addService(
      {
        Unary: method('/test.Echo/Unary', false),
        Late: { ...method('/test.Echo/Late', false), responseStream: true },
        Stream: method('/test.Echo/Stream', true),
      },
      {
        Unary: (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
          const token = call.metadata.get('authorization')[0];
          if (call.request.length === 1) callback({ code: 9, details: `wéird ${token}` });
          else callback(null, call.request);
        },
        // An answer, and in a packet of its own a status that depends on it.
        Late: (call: ServerWritableStream<Buffer, Buffer>) => {
          call.write(call.request);
          setTimeout(() => {
            if (call.request.readUInt16BE() % 3 !== 0) call.end();
            else call.emit('error', { code: 13, details: 'late' });
          }, 2);
        },
        Stream: (call: ServerDuplexStream<Buffer, Buffer>) => {
          call.on('data', (message) => call.write(message));
          call.on('end', () => call.end());
          call.on('error', () => {});
        },
      },
    );
    closers.push(async () => server.forceShutdown());
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      ),
    );
    return `127.0.0.1:${port}`;
  }

  it('calls, streams and reads the status', async () => {
    const connection = connectTo(await startEcho(ServerCredentials.createInsecure()), undefined, {
      messageBytesMax: 16 << 20,
    });
    closers.push(() => connection.close());
    const large = Buffer.alloc(8 << 20, 'large ');
    const [answer] = (await callUnary(connection, large).ended).messages;
    expect(answer?.equals(large)).toBe(true);
    expect(await callUnary(connection, Buffer.of(1)).ended).toMatchObject({
      code: 9,
      details: 'wéird undefined',
    });
    expect((await callUnary(connection, Buffer.of(1, 2), '/test.Echo/None').ended).code).toBe(12);
    const streamed = new RecordedCall();
    const stream = connection.call('/test.Echo/Stream', streamed);
    for (let i = 0; i < 200; i += 1) stream.write([Buffer.alloc(i), Buffer.of(i)], i + 1);
    stream.end();
    expect((await streamed.ended).code).toBe(0);
    expect(streamed.messages.map(({ length }) => length)).toEqual(
      Array.from({ length: 200 }, (_, i) => i + 1),
    );
  });

  it('takes each answer for its own call, and none for a call that fails behind it', async () => {
    const connection = connectTo(await startEcho(ServerCredentials.createInsecure()));
    closers.push(() => connection.close());
    for (let begin = 0; begin < 300; begin += 10) {
      const numbers = Array.from({ length: 10 }, (_, i) => begin + i);
      const ends = await Promise.all(
        numbers.map((n) => callUnary(connection, Buffer.of(n >> 8, n), '/test.Echo/Late').ended),
      );
      expect(ends.map(({ code, messages }) => [code, messages[0]?.readUInt16BE()])).toEqual(
        numbers.map((n) => (n % 3 === 0 ? [13, undefined] : [0, n])),
      );
    }
  });

  it('shows its certificate and token over TLS, and says what is wrong with either', async () => {
    if (!HAS_OPENSSL) return;
    const made = new TestCertificates();
    const { node, ca, otherCa, client } = made;
    const pair = { cert_chain: readFileSync(node.cert), private_key: readFileSync(node.key) };
    const address = await startEcho(ServerCredentials.createSsl(readFileSync(ca), [pair], true));
    const tokenFile = made.write('token', 'a-token-of-some-length');
    const own = { tls: true, tlsCa: ca, tlsCert: client.cert, tlsKey: client.key, tokenFile };
    const connectBy = (security: object) => {
      const connection = connectTo(address, undefined, {
        security: { ...NO_SECURITY, ...security },
      });
      closers.push(() => connection.close());
      return connection;
    };
    const connection = connectBy({ ...own, tlsServerName: 'sut.test' });
    expect((await callUnary(connection, Buffer.of(1)).ended).details).toBe(
      'wéird Bearer a-token-of-some-length',
    );
    const large = Buffer.alloc(3 << 20, 'over TLS');
    expect((await callUnary(connection, large).ended).messages[0]?.equals(large)).toBe(true);
    await expect(connectBy({ ...own, tlsCa: otherCa }).ready).rejects.toThrow(
      /no authority of --tls-ca/,
    );
    await expect(connectBy({ ...own, tlsServerName: 'other.test' }).ready).rejects.toThrow(
      /for another name/,
    );
    await expect(connectBy({ tls: true, tlsCa: ca }).ready).rejects.toThrow(/--tls-cert/);
    await expect(connectBy({}).ready).rejects.toThrow(/closed the connection/);
  });
});
