import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { type ChannelCredentials, Client, credentials, type StatusObject } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Deferred } from '../../../shared/base/async.ts';
import { FLAG, FRAME_TYPE, PREFACE } from '../../../shared/http2/frames.ts';
import { type HeaderField, HpackDecoder, HpackEncoder } from '../../../shared/http2/hpack.ts';
import {
  encodeLoadGenMessage,
  INFER_METHOD,
  SUT_METHODS,
} from '../../../shared/wire/sut-contract.ts';
import type { SutNodeProcess } from '../../scenes/host/processes.ts';
import { frame } from '../../scenes/oip-server/raw-http2-peer.ts';
import { HAS_OPENSSL } from '../../scenes/sut-node/certificates.ts';
import { INFER_PATH, NAME_PATH } from '../../scenes/sut-node/hostile-client.ts';
import { framesIn } from '../../scenes/sut-node/http2-server.ts';
import { type NodePair, startNodePair } from '../../scenes/sut-node/node-pair.ts';
import { RAW_OPEN } from '../../scenes/sut-node/sut-node.ts';

// Goal: Infer and the unary calls of one channel all end as they should, though the node serves
// them on connections of different kinds; and a connection that breaks takes nothing with it.
// Method: node processes, plain and with TLS; a channel of grpc-js that makes the calls in each
// order; connections that are reset, or send what is no TLS, amid a call. (test/outside/interop has
// other clients.)

const { Name } = SUT_METHODS;
const OWN_CONNECTION = { 'grpc.use_local_subchannel_pool': 1 };

let nodes: NodePair;

beforeAll(async () => {
  nodes = await startNodePair();
});

afterAll(() => nodes.stop());

function authority(): Buffer {
  return readFileSync(nodes.files?.ca as string);
}

/** HEADERS of a call. */
function callHead(path: string, more: readonly HeaderField[] = []): Buffer {
  const block = new HpackEncoder(0).encode([
    { name: ':method', value: 'POST' },
    { name: ':scheme', value: 'http' },
    { name: ':path', value: path },
    { name: ':authority', value: 'node' },
    { name: 'content-type', value: 'application/grpc' },
    { name: 'te', value: 'trailers' },
    ...more,
  ]);
  return frame(FRAME_TYPE.headers, FLAG.endHeaders, 1, block);
}

/**
 * A TCP connection to the plain node, and all frames that came on it so far; closed with the test.
 */
function rawConnection() {
  const [host, port] = nodes.plain.address.split(':') as [string, string];
  const socket = connect({ host, port: Number(port) });
  onTestFinished(() => {
    socket.destroy();
  });
  const got: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => got.push(chunk));
  return { socket, frames: () => framesIn(Buffer.concat(got)) };
}

/** A channel, and the last stream on it. */
class Channel {
  readonly #client: Client;

  constructor(address: string, security: ChannelCredentials) {
    // Node.js from 26 on refuses an IP address as the name of a TLS server, which is what grpc-js
    // would give.
    const byName = { ...OWN_CONNECTION, 'grpc.ssl_target_name_override': 'localhost' };
    this.#client = new Client(address, security, byName);
    onTestFinished(() => this.#client.close());
  }

  name(): Promise<string> {
    return new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = Name;
      const deadline = Date.now() + 20_000;
      this.#client.makeUnaryRequest(
        ...[path, requestSerialize, responseDeserialize, { nonce: 1 }, { deadline }],
        (error, answer) => (error === null ? resolve(answer?.name ?? '') : reject(error)),
      );
    });
  }

  /** Opens a stream. @returns What closes it, and tells its status. */
  async open(runId: string): Promise<() => Promise<StatusObject>> {
    const { path, requestSerialize, responseDeserialize } = INFER_METHOD;
    const stream = this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    const ended = new Deferred<StatusObject>();
    stream.on('status', (status: StatusObject) => ended.resolve(status));
    // The status says it, too.
    stream.on('error', () => {});
    const opened = once(stream, 'data');
    stream.write(encodeLoadGenMessage({ open: { ...RAW_OPEN, benchmark: 'null', runId } }));
    await opened;
    stream.resume();
    return () => {
      stream.write(encodeLoadGenMessage({ close: {} }));
      stream.end();
      return ended.promise;
    };
  }
}

describe.each([
  { way: 'plain', isTls: false },
  { way: 'by TLS', isTls: true },
])('one channel, $way,', ({ isTls }) => {
  const isSkipped = isTls && !HAS_OPENSSL;
  const address = (): string => ((isTls ? nodes.withTls : nodes.plain) as SutNodeProcess).address;
  const security = (): ChannelCredentials =>
    isTls ? credentials.createSsl(authority()) : credentials.createInsecure();

  it.skipIf(isSkipped)('may begin with a unary call', async () => {
    const channel = new Channel(address(), security());
    expect(await channel.name()).toBe('sut-a');
    const close = await channel.open(`first-name-${isTls}`);
    expect(await channel.name()).toBe('sut-a');
    expect(await close()).toMatchObject({ code: 0 });
  });

  it.skipIf(isSkipped)('may make unary calls beside Infer, which ends as if alone', async () => {
    const channel = new Channel(address(), security());
    const close = await channel.open(`beside-${isTls}`);
    const names = await Promise.all(Array.from({ length: 20 }, () => channel.name()));
    expect(new Set(names)).toEqual(new Set(['sut-a']));
    expect(await close()).toMatchObject({ code: 0 });
  });

  it.skipIf(isSkipped)('may make unary calls behind Infer', async () => {
    const channel = new Channel(address(), security());
    const close = await channel.open(`behind-${isTls}`);
    expect(await close()).toMatchObject({ code: 0 });
    const names = await Promise.all(Array.from({ length: 20 }, () => channel.name()));
    expect(new Set(names)).toEqual(new Set(['sut-a']));
  });
});

describe('a client that waits for answers before its first call', () => {
  const { settings, ping } = FRAME_TYPE;
  const { ack } = FLAG;

  it.each([
    ['Infer', INFER_PATH],
    ['Name', NAME_PATH],
  ])('gets them at once, and once: %s', async (_call, path) => {
    const { socket, frames } = rawConnection();
    const countOf = (type: number, flags: number): number =>
      frames().filter((one) => one.type === type && one.flags === flags).length;
    const answersTo = (type: number): number => countOf(type, ack);
    const probe = frame(ping, 0, 0, Buffer.from('12345678'));
    socket.write(Buffer.concat([Buffer.from(PREFACE), frame(settings, 0, 0)]));
    await expect.poll(() => answersTo(settings)).toBe(1);
    socket.write(probe);
    await expect.poll(() => answersTo(ping)).toBe(1);
    socket.write(Buffer.concat([frame(settings, ack, 0), callHead(path)]));
    // Settings with the windows: who serves the connection is decided.
    await expect.poll(() => countOf(settings, 0)).toBe(2);
    socket.write(Buffer.concat([frame(settings, 0, 0), probe]));
    await expect.poll(() => answersTo(ping)).toBe(2);
    expect(answersTo(settings)).toBe(2);
  });
});

it.each([
  ['Infer', INFER_PATH],
  ['Name', NAME_PATH],
])('two headers authorization are refused, and named: %s', async (_call, path) => {
  const { socket, frames } = rawConnection();
  const tokens = ['Bearer one', 'Bearer two'].map((value) => ({ name: 'authorization', value }));
  const hello = [Buffer.from(PREFACE), frame(FRAME_TYPE.settings, 0, 0)];
  const ack = frame(FRAME_TYPE.settings, FLAG.ack, 0);
  socket.write(Buffer.concat([...hello, ack, callHead(path, tokens)]));
  const answer = () => frames().find(({ type }) => type === FRAME_TYPE.headers)?.payload;
  await expect.poll(answer).toBeDefined();
  const fields = new HpackDecoder(4096, 65_536).decode(answer() as Buffer);
  const textOf = (wanted: string) => fields.find(({ name }) => name === wanted)?.value;
  expect(textOf('grpc-status')).toBe('16');
  expect(decodeURI(textOf('grpc-message') ?? '')).toBe(
    'a call has one header authorization; this one has 2',
  );
});

describe.skipIf(!HAS_OPENSSL)('a node with TLS lives on when a connection', () => {
  const breaks: readonly [string, (tcp: Socket) => void][] = [
    ['is reset', (tcp) => tcp.resetAndDestroy()],
    [
      'sends what is no TLS',
      (tcp) => tcp.write(Buffer.from([23, 3, 3, 0, 32, ...Buffer.alloc(32)])),
    ],
  ];
  const calls = [
    ['Infer', INFER_PATH],
    ['Name', NAME_PATH],
  ] as const;

  it.each(
    breaks.flatMap(([how, breakIt]) => calls.map(([call, path]) => ({ how, breakIt, call, path }))),
  )('$how amid $call', async ({ breakIt, path }) => {
    const { address, process } = nodes.withTls as SutNodeProcess;
    const [host, port] = address.split(':') as [string, string];
    const tcp = connect({ host, port: Number(port) });
    const tls: TLSSocket = connectTls({
      ...{ socket: tcp, ca: authority(), servername: 'sut.test', ALPNProtocols: ['h2'] },
    });
    for (const socket of [tcp, tls]) socket.on('error', () => {});
    const closed = once(tcp, 'close');
    await once(tls, 'secureConnect');
    tls.write(
      Buffer.concat([
        Buffer.from(PREFACE),
        frame(FRAME_TYPE.settings, 0, 0),
        frame(FRAME_TYPE.settings, FLAG.ack, 0),
        callHead(path),
      ]),
    );
    // Settings, and a window: who serves the connection is decided.
    let bytes = 0;
    tls.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await expect.poll(() => bytes).toBeGreaterThan(9 + 4 * 6);
    breakIt(tcp);
    await closed;
    expect(await new Channel(address, credentials.createSsl(authority())).name()).toBe('sut-a');
    expect(process.child.exitCode).toBeNull();
  });
});
