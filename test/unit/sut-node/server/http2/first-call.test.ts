import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Deferred } from '../../../../../shared/base/async.ts';
import { ERROR_CODE, FLAG, FRAME_TYPE, PREFACE } from '../../../../../shared/http2/frames.ts';
import { serveByFirstCall } from '../../../../../sut-node/server/http2/first-call.ts';
import type { ServerConnection } from '../../../../../sut-node/server/http2/server-connection.ts';
import {
  frame,
  grpcMessage,
  settingsOf,
  word,
} from '../../../../scenes/oip-server/raw-http2-peer.ts';
import {
  blockOf,
  FakeSocket,
  framesIn,
  type HandledCall,
  HELLO,
  INFER_BLOCK,
  INFER_HEADERS,
  inferHead,
  PING,
  testCalls,
  turns,
} from '../../../../scenes/sut-node/http2-server.ts';

// Goal: a connection goes where its first call is served, with all that concerns it there, wherever
// the bytes were cut; SETTINGS and PING are answered at once, and once; HTTP/2 that is broken ends
// with GOAWAY at once. Method: a socket without a network, and grpc-js replaced by a list of what
// it is handed.

const { data, headers, settings, continuation, goAway, ping } = FRAME_TYPE;
const { endStream, endHeaders, padded, ack } = FLAG;

const ACK = frame(settings, ack, 0);
const MORE_SETTINGS = frame(settings, 0, 0, settingsOf({ 4: 70_000 }));
const MESSAGE = grpcMessage(Buffer.from('a query'));
const END = frame(data, endStream, 1, MESSAGE);
const OTHER_BLOCK = blockOf({ ...INFER_HEADERS, ':path': '/grpc.health.v1.Health/Check' });
const OTHER = frame(headers, endHeaders | endStream, 1, OTHER_BLOCK);

class Scene {
  readonly socket = new FakeSocket();
  readonly handled: HandledCall[] = [];
  readonly injected: FakeSocket[] = [];
  /** SETTINGS that grpc-js must not answer. */
  settingsAnswered = 0;
  readonly own: ServerConnection[] = [];

  constructor() {
    const calls = testCalls({}, this.handled);
    serveByFirstCall(this.socket.asSocket, {
      service: calls,
      inject: (socket, settingsAnswered) => {
        this.injected.push(socket as unknown as FakeSocket);
        this.settingsAnswered = settingsAnswered;
      },
      onConnection: (connection) => this.own.push(connection),
    });
  }

  async send(...chunks: readonly Uint8Array[]): Promise<void> {
    for (const chunk of chunks) {
      this.socket.emit('data', Buffer.from(chunk));
      await turns();
    }
    if (this.own.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Answers that were sent, to SETTINGS and to PING. */
  get answers() {
    const sent = framesIn(Buffer.concat(this.socket.written)).filter(({ flags }) => flags === ack);
    return {
      settings: sent.filter(({ type }) => type === settings).length,
      pings: sent.filter(({ type }) => type === ping).map(({ payload }) => payload.toString()),
    };
  }

  /** Who serves the connection, and what that one has got. */
  get served() {
    if (this.own.length > 0) {
      const frames = framesIn(Buffer.concat(this.socket.written));
      const contents = frames.filter(({ type }) => type === data).map(({ payload }) => payload);
      return { by: 'own', bytes: Buffer.concat(contents).toString('latin1') };
    }
    if (this.injected.length === 0) return { by: 'nobody', bytes: '' };
    return { by: 'grpc-js', bytes: Buffer.concat(this.socket.unshifted).toString('latin1') };
  }
}

async function servedOf(chunks: readonly Uint8Array[]) {
  const scene = new Scene();
  await scene.send(...chunks);
  const { served } = scene;
  scene.socket.destroy();
  return served;
}

/** All pairs of pieces of these bytes. */
function pairs(bytes: Buffer): Buffer[][] {
  return Array.from({ length: bytes.length - 1 }, (_, i) => [
    bytes.subarray(0, i + 1),
    bytes.subarray(i + 1),
  ]);
}

const OWN = { by: 'own', bytes: MESSAGE.toString('latin1') };

describe('a first call that is served here', () => {
  const conversations: [string, Buffer[]][] = [
    ['no answer to the settings', [HELLO, inferHead(1), END]],
    ['the answer before it', [HELLO, ACK, inferHead(1), END]],
    ['the answer between its frames', [HELLO, inferHead(1), ACK, END]],
    ['the answer behind it', [HELLO, inferHead(1), END, ACK]],
    [
      'padding and priority',
      [
        HELLO,
        frame(
          headers,
          endHeaders | padded | FLAG.priority,
          1,
          Buffer.concat([Buffer.of(3), Buffer.alloc(5), INFER_BLOCK, Buffer.alloc(3)]),
        ),
        END,
      ],
    ],
    [
      'a block in two frames',
      [
        HELLO,
        frame(headers, 0, 1, INFER_BLOCK.subarray(0, 20)),
        frame(continuation, endHeaders, 1, INFER_BLOCK.subarray(20)),
        END,
        ACK,
      ],
    ],
  ];

  it.each(conversations)('with %s', async (_name, frames) => {
    const whole = Buffer.concat(frames);
    expect(await servedOf([whole])).toEqual(OWN);
    expect(await servedOf([...whole].map((byte) => Buffer.of(byte)))).toEqual(OWN);
    for (const chunks of pairs(whole)) {
      expect(await servedOf(chunks), `cut at ${chunks[0]?.length}`).toEqual(OWN);
    }
  });
});

describe('a first call that grpc-js serves', () => {
  const conversations: [string, Buffer[]][] = [
    ['the answer before it', [HELLO, ACK, PING, OTHER]],
    ['the answer between its frames', [HELLO, PING, ACK, OTHER]],
    ['the answer behind it', [HELLO, OTHER, PING, ACK]],
    [
      'a block in two frames, and the answer behind them',
      [
        HELLO,
        frame(headers, endStream, 1, OTHER_BLOCK.subarray(0, 20)),
        frame(continuation, endHeaders, 1, OTHER_BLOCK.subarray(20)),
        ACK,
      ],
    ],
  ];

  it.each(conversations)('is handed over without PING and %s', async (_name, frames) => {
    const whole = Buffer.concat(frames);
    const left = frames.filter((one) => one !== ACK && one !== PING);
    const expected = Buffer.concat(left).toString('latin1');
    for (const chunks of [[whole], ...pairs(whole)]) {
      expect(await servedOf(chunks), `cut at ${chunks[0]?.length}`).toEqual({
        by: 'grpc-js',
        bytes: expected,
      });
    }
  });

  it('waits for the answer to the settings', async () => {
    const scene = new Scene();
    await scene.send(HELLO, OTHER);
    expect(scene.served.by).toBe('nobody');
    await scene.send(ACK);
    expect(scene.served.by).toBe('grpc-js');
  });

  it('leaves a second answer to the settings where it is: grpc-js sends some as well', async () => {
    expect((await servedOf([Buffer.concat([HELLO, ACK, ACK, OTHER])])).bytes).toBe(
      Buffer.concat([HELLO, ACK, OTHER]).toString('latin1'),
    );
  });
});

describe('what is no HTTP/2', () => {
  const tls = Buffer.of(0x16, 0x03, 0x01, 0x02);
  const odd: [string, Buffer][] = [
    ['HTTP/1.1', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['TLS', tls],
    ['a preface with a wrong last byte', Buffer.from(`${PREFACE.slice(0, -1)}x`)],
  ];

  it.each(odd)('goes to grpc-js as it is: %s', async (_name, bytes) => {
    expect(await servedOf([bytes])).toEqual({ by: 'grpc-js', bytes: bytes.toString('latin1') });
  });

  it('goes there when there is more of it than fits before the answer to the settings', async () => {
    const scene = new Scene();
    await scene.send(HELLO);
    let count = 0;
    for (; scene.injected.length === 0 && count < 100; count += 1) {
      await scene.send(frame(0x77, 0, 0, Buffer.alloc(16_000)));
    }
    expect(count).toBe(17);
  });
});

describe('HTTP/2 that is broken before the first call', () => {
  const { PROTOCOL_ERROR, FRAME_SIZE_ERROR, COMPRESSION_ERROR } = ERROR_CODE;
  const long = frame(data, 0, 1);
  long.writeUIntBE(0xffffff, 0, 3);
  const padding = endHeaders | padded;
  const broken: [string, number, Buffer[]][] = [
    ['another frame before the settings', PROTOCOL_ERROR, [Buffer.from(PREFACE), PING]],
    ['settings of 5 bytes', FRAME_SIZE_ERROR, [HELLO, frame(settings, 0, 0, Buffer.alloc(5))]],
    ['settings of a stream', PROTOCOL_ERROR, [HELLO, frame(settings, 0, 1)]],
    [
      'a setting of a wrong value',
      PROTOCOL_ERROR,
      [HELLO, frame(settings, 0, 0, settingsOf({ 5: 1 }))],
    ],
    [
      'an answer with contents',
      FRAME_SIZE_ERROR,
      [HELLO, frame(settings, ack, 0, settingsOf({ 1: 0 }))],
    ],
    ['data of a stream that was not opened', PROTOCOL_ERROR, [HELLO, frame(data, 0, 1)]],
    ['the head of a frame that is too long', FRAME_SIZE_ERROR, [HELLO, long]],
    [
      'a call of an even number',
      PROTOCOL_ERROR,
      [HELLO, frame(headers, endHeaders, 2, OTHER_BLOCK)],
    ],
    [
      'a block that cannot be read',
      COMPRESSION_ERROR,
      [HELLO, frame(headers, endHeaders, 1, Buffer.alloc(9, 0xff))],
    ],
    [
      'padding longer than its frame',
      PROTOCOL_ERROR,
      [HELLO, frame(headers, padding, 1, Buffer.of(9))],
    ],
    ['padding without a byte', FRAME_SIZE_ERROR, [HELLO, frame(headers, padding, 1)]],
    ['CONTINUATION first', PROTOCOL_ERROR, [HELLO, frame(continuation, endHeaders, 1)]],
    ['a frame inside a block', PROTOCOL_ERROR, [HELLO, frame(headers, 0, 1, INFER_BLOCK), PING]],
    [
      'a window of the connection beyond 2^31 - 1',
      ERROR_CODE.FLOW_CONTROL_ERROR,
      [HELLO, frame(FRAME_TYPE.windowUpdate, 0, 0, word(0x7fffffff))],
    ],
    [
      'a short PING behind a call',
      FRAME_SIZE_ERROR,
      [HELLO, OTHER, frame(6, 0, 0, Buffer.alloc(7))],
    ],
  ];

  it.each(broken)('ends with GOAWAY and the connection: %s', async (_name, code, frames) => {
    const whole = Buffer.concat(frames);
    for (const chunks of [[whole], ...pairs(whole)]) {
      const scene = new Scene();
      await scene.send(...chunks);
      const last = framesIn(Buffer.concat(scene.socket.written)).at(-1);
      expect(last).toMatchObject({ type: goAway, streamId: 0 });
      expect(last?.payload.readUInt32BE(4)).toBe(code);
      expect(last?.payload.toString('latin1', 8)).not.toBe('');
      expect(scene.socket.destroyed).toBe(true);
      expect(scene.served.by).toBe('nobody');
      expect(scene.socket.lateWrites).toBe(0);
    }
  });

  it('is told to a peer over TCP at once', async () => {
    const server = createServer((accepted) => {
      const inject = () => expect.unreachable('grpc-js serves no broken HTTP/2');
      serveByFirstCall(accepted, { service: testCalls({}, []), inject, onConnection: inject });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    const peer = connect(port, '127.0.0.1');
    const got: Buffer[] = [];
    peer.on('data', (chunk: Buffer) => got.push(chunk));
    peer.write(Buffer.concat([Buffer.from(PREFACE), PING]));
    await once(peer, 'close');
    server.close();
    const last = framesIn(Buffer.concat(got)).at(-1);
    expect(last?.type).toBe(goAway);
    expect(last?.payload.toString('latin1', 8)).toBe('its first frame is not SETTINGS');
  });
});

it('leaves the reader of node:net to a connection that grpc-js serves', async () => {
  const injected = new Deferred<Socket>();
  const server = createServer((accepted) => {
    const onConnection = () => expect.unreachable('the call is for grpc-js');
    const inject = (socket: Socket) => injected.resolve(socket);
    serveByFirstCall(accepted, { service: testCalls({}, []), inject, onConnection });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const peer = connect(port, '127.0.0.1');
  onTestFinished(() => {
    peer.destroy();
    server.close();
  });
  peer.write(Buffer.concat([HELLO, ACK, OTHER]));
  const socket = await injected.promise;
  // Where node:net reads into a buffer of ours, a closed session of node:http2 that V8 collects
  // aborts the process.
  const buffer = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'kBuffer',
  ) as keyof Socket;
  expect(socket[buffer]).toBeNull();
  socket.destroy();
});

/** Which settings a frame has. */
function ids(payload: Buffer): number[] {
  return Array.from({ length: payload.length / 6 }, (_, i) => payload.readUInt16BE(6 * i));
}

it('sends its settings first, and its windows once it is known who serves', async () => {
  const scene = new Scene();
  const [first, ...others] = framesIn(Buffer.concat(scene.socket.written));
  expect(first).toMatchObject({ type: settings, flags: 0, streamId: 0 });
  expect(others).toEqual([]);
  await scene.send(HELLO, inferHead(1), END);
  const own = framesIn(Buffer.concat(scene.socket.written)).filter(
    ({ type, flags }) => type === settings && flags === 0,
  );
  expect(own.map(({ payload }) => ids(payload))).toEqual([
    [3, 6],
    [4, 5],
  ]);
});

describe('SETTINGS and PING before the first call', () => {
  it('are answered at once', async () => {
    const scene = new Scene();
    await scene.send(HELLO);
    expect(scene.answers).toEqual({ settings: 1, pings: [] });
    await scene.send(PING, MORE_SETTINGS);
    expect(scene.answers).toEqual({ settings: 2, pings: ['anybody?'] });
  });

  const before = [HELLO, PING, MORE_SETTINGS, ACK];

  it.each([
    ['here', [inferHead(1), END, MORE_SETTINGS, PING], { settings: 3, pings: 2 }],
    // grpc-js is no part of this scene.
    ['by grpc-js', [OTHER], { settings: 2, pings: 1 }],
  ])('are answered once where the call is served %s', async (_where, call, expected) => {
    const frames = [...before, ...call];
    const whole = Buffer.concat(frames);
    for (const chunks of [frames, [whole], ...pairs(whole)]) {
      const scene = new Scene();
      await scene.send(...chunks);
      await turns();
      const { answers, settingsAnswered } = scene;
      expect({ settings: answers.settings, pings: answers.pings.length }).toEqual(expected);
      expect(settingsAnswered).toBe(scene.served.by === 'own' ? 0 : 2);
      scene.socket.destroy();
    }
  });

  it('are answered before whoever serves the call writes, where the peer reads slowly', async () => {
    const scene = new Scene();
    scene.socket.takes = false;
    await scene.send(HELLO, PING, PING);
    await scene.send(inferHead(1), END);
    scene.socket.takes = true;
    scene.socket.take();
    await turns();
    const sent = framesIn(Buffer.concat(scene.socket.written));
    const order = sent.map(({ type, flags, payload }) => [type, flags & ack, ids(payload).at(0)]);
    expect(order.slice(0, 5)).toEqual([
      [settings, 0, 3],
      [settings, ack, undefined],
      [ping, ack, expect.anything()],
      [ping, ack, expect.anything()],
      [settings, 0, 4],
    ]);
    expect(scene.answers.settings).toBe(1);
  });
});

it('leaves the bytes behind the first call to whoever has the socket then', async () => {
  const scene = new Scene();
  await scene.send(HELLO, ACK, OTHER);
  const later: Buffer[] = [];
  scene.socket.on('data', (chunk: Buffer) => later.push(chunk));
  await scene.send(PING);
  expect(Buffer.concat(later)).toEqual(PING);
});
