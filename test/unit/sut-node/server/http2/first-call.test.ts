import { describe, expect, it } from 'vitest';
import { FLAG, FRAME_TYPE, PREFACE } from '../../../../../shared/http2/frames.ts';
import { serveByFirstCall } from '../../../../../sut-node/server/http2/first-call.ts';
import type { ServerConnection } from '../../../../../sut-node/server/http2/server-connection.ts';
import { frame, grpcMessage, settingsOf } from '../../../../scenes/oip-server/raw-http2-peer.ts';
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

// Goal: a connection goes where its first call is served, with all of its bytes, wherever they were cut.
// Method: a socket without a network, and grpc-js replaced by a list of what it is handed.

const { data, headers, settings, continuation } = FRAME_TYPE;
const { endStream, endHeaders, padded, ack } = FLAG;

const ACK = frame(settings, ack, 0);
const MESSAGE = grpcMessage(Buffer.from('a query'));
const END = frame(data, endStream, 1, MESSAGE);
const OTHER_BLOCK = blockOf({ ...INFER_HEADERS, ':path': '/grpc.health.v1.Health/Check' });
const OTHER = frame(headers, endHeaders | endStream, 1, OTHER_BLOCK);

class Scene {
  readonly socket = new FakeSocket();
  readonly handled: HandledCall[] = [];
  readonly injected: FakeSocket[] = [];
  readonly own: ServerConnection[] = [];

  constructor() {
    const calls = testCalls({}, this.handled);
    serveByFirstCall(this.socket.asSocket, {
      service: calls,
      inject: (socket) => this.injected.push(socket as unknown as FakeSocket),
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

  it.each(conversations)('is handed over without %s', async (_name, frames) => {
    const whole = Buffer.concat(frames);
    const expected = Buffer.concat(frames.filter((one) => one !== ACK)).toString('latin1');
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
    ['a block that cannot be read', Buffer.concat([HELLO, frame(headers, endHeaders, 1, tls)])],
    [
      'more padding than frame',
      Buffer.concat([HELLO, frame(headers, endHeaders | padded, 1, Buffer.of(9))]),
    ],
    ['padding without a byte', Buffer.concat([HELLO, frame(headers, endHeaders | padded, 1)])],
    ['CONTINUATION first', Buffer.concat([HELLO, frame(continuation, endHeaders, 1)])],
    [
      'another frame inside a block',
      Buffer.concat([HELLO, frame(headers, 0, 1, INFER_BLOCK), PING]),
    ],
    [
      'an answer to the settings with contents',
      Buffer.concat([HELLO, frame(settings, ack, 0, settingsOf({ 1: 0 }))]),
    ],
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

  it('of which nothing comes any more is held in as much memory as came', async () => {
    const scene = new Scene();
    const head = frame(headers, endHeaders, 1);
    head.writeUIntBE(0xffffff, 0, 3);
    await scene.send(HELLO, head);
    expect(scene.served.by).toBe('nobody');
  });
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

it('leaves the bytes behind the first call to whoever has the socket then', async () => {
  const scene = new Scene();
  await scene.send(HELLO, ACK, OTHER);
  const later: Buffer[] = [];
  scene.socket.on('data', (chunk: Buffer) => later.push(chunk));
  await scene.send(PING);
  expect(Buffer.concat(later)).toEqual(PING);
});
