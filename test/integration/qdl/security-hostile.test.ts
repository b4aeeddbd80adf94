import { readFileSync } from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { encodePart } from '../../../shared/wire/part-codec.ts';
import { encodeLoadGenMessage } from '../../../shared/wire/sut-contract.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { SutNodeProcess, WarmLonghaul } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import {
  grpcFrame,
  HostileClient,
  INFER_PATH,
  NAME_PATH,
} from '../../scenes/sut-node/hostile-client.ts';
import { ask, wholeSample } from '../../scenes/sut-node/sut-client.ts';
import { RAW_OPEN } from '../../scenes/sut-node/sut-node.ts';

// Goal: whatever one client sends, the node's memory is bounded, its places are not used up, and
// the runs of others go on. Method: a real node process, raw sockets and HTTP/2 streams that keep
// no rule, the node's own peak of resident memory.

const MIB = 1024 * 1024;
const cache = ['--cache-dir', testCacheFolder()];
/** How long the node of this file waits for a first call or message. */
const HANDSHAKE = ['--handshake-timeout', '2s'];
/** Less than by default, 10 s, and far above these 2 s. */
const CLOSED = { timeout: 9_000 };
/** HTTP/2 error codes of resets (RFC 9113, section 7). */
const RESET = { internalError: 2, cancel: 8, enhanceYourCalm: 11 };

let node: SutNodeProcess;
let dataFolder = '';
const clients: HostileClient[] = [];

beforeAll(async () => {
  node = await SutNodeProcess.start('sut-a', [...HANDSHAKE, ...cache]);
  dataFolder = await smallDataSet(64);
  await node.process.says(/is ready/);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.stop();
  // It still answers, whatever was done to it.
  const answer = await ask(node.address, 'Name', { nonce: 1 }).catch((error: unknown) => {
    throw new Error(`${error}; the node's last words: ${node.process.stderr.slice(-2000)}`);
  });
  expect(answer).toMatchObject({ name: 'sut-a' });
});

afterAll(() => node.stop());

function hostile(): HostileClient {
  const client = new HostileClient(node.address);
  clients.push(client);
  return client;
}

/** A node's peak of resident memory so far, in bytes. */
function peakBytes(of: SutNodeProcess = node): number {
  const text = readFileSync(`/proc/${of.process.child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(text)?.[1]) * 1024;
}

const OPEN = grpcFrame(encodeLoadGenMessage({ open: RAW_OPEN }));

describe('a SUT node closes', () => {
  it('connections that say nothing, and gives their places to new ones before', async () => {
    const silent = hostile();
    for (let i = 0; i < 300; i += 1) silent.connect();
    await expect.poll(() => silent.openSocketCount).toBeGreaterThan(0);
    expect(await ask(node.address, 'Name', { nonce: 1 })).toMatchObject({ name: 'sut-a' });
    expect(silent.openSocketCount).toBeLessThanOrEqual(64);
    await expect.poll(() => silent.openSocketCount, CLOSED).toBe(0);
  });

  it('connections that speak slowly, or not HTTP/2', async () => {
    const slow = hostile();
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    const drip = slow.connect();
    const timer = setInterval(() => drip.write(preface.subarray(0, 1)), 100);
    const begun = slow.connect(preface.subarray(0, 10));
    const web = slow.connect(Buffer.from('GET / HTTP/1.1\r\nHost: sut\r\n\r\n'));
    await expect
      .poll(() => [drip, begun, web].every((socket) => socket.destroyed), CLOSED)
      .toBe(true);
    clearInterval(timer);
  });

  it('calls that never say Open, or never all of it, and unary calls that never end', async () => {
    const slow = hostile();
    const session = slow.session();
    const calls = [
      slow.call(session, INFER_PATH, Buffer.alloc(0)),
      slow.call(session, INFER_PATH, OPEN.subarray(0, OPEN.length - 1)),
      slow.call(slow.session(), NAME_PATH, grpcFrame(Buffer.alloc(0))),
    ];
    await expect
      .poll(() => calls.map((call) => call.outcome().resetCode), CLOSED)
      .toEqual([RESET.cancel, RESET.cancel, RESET.cancel]);
  });

  it.each<[string, string, number]>([
    ['Name of 2 GiB', NAME_PATH, 2 ** 31],
    ['Open of 2 GiB', INFER_PATH, 2 ** 31],
    ['Name of 60 MB', NAME_PATH, 60e6],
    ['Open of 60 MB', INFER_PATH, 60e6],
    ['Open of 17 KiB', INFER_PATH, 17 * 1024],
  ])('a call that announces a %s, at its first bytes', async (_case, path, declaredBytes) => {
    const liar = hostile();
    const call = liar.call(liar.session(), path, grpcFrame(Buffer.alloc(8), declaredBytes));
    await expect.poll(() => call.outcome().resetCode).toBe(RESET.enhanceYourCalm);
  });

  it('an Infer stream that announces a part of 2 GiB, at its first bytes', async () => {
    const liar = hostile();
    const part = grpcFrame(Buffer.from([0x12, 0xff]), 2 ** 31);
    const call = liar.call(liar.session(), INFER_PATH, Buffer.concat([OPEN, part]));
    await expect.poll(() => call.outcome().grpcStatus).toBe(status.RESOURCE_EXHAUSTED);
  });

  it("a call with gRPC's own compression, before it reads the bomb", async () => {
    const bomber = hostile();
    const bomb = gzipSync(Buffer.alloc(64 * MIB));
    const headers = { 'grpc-encoding': 'gzip' };
    const call = bomber.call(bomber.session(), INFER_PATH, grpcFrame(bomb), headers);
    await expect.poll(() => call.outcome().grpcStatus).toBe(status.INVALID_ARGUMENT);
  });

  it('a call with huge headers', async () => {
    const client = hostile();
    const large = client.call(client.session(), NAME_PATH, grpcFrame(Buffer.alloc(0)), {
      'x-large': 'a'.repeat(60_000),
    });
    await expect.poll(() => large.outcome().grpcStatus).toBe(status.RESOURCE_EXHAUSTED);
    const session = client.session();
    client.call(session, NAME_PATH, grpcFrame(Buffer.alloc(0)), { 'x-huge': 'a'.repeat(2e6) });
    await expect.poll(() => session.destroyed).toBe(true);
  });

  it.each<[string, (flood: HostileClient, session: ClientHttp2Session) => void]>([
    [
      'resets',
      (flood, session) =>
        flood.call(session, NAME_PATH, grpcFrame(Buffer.alloc(0))).stream.close(RESET.cancel),
    ],
    [
      'makes the node reset',
      (flood, session) => flood.call(session, NAME_PATH, grpcFrame(Buffer.alloc(0), 2 ** 31)),
    ],
  ])('a connection that %s call after call', async (_what, begin) => {
    const flood = hostile();
    const session = flood.session();
    let resets = 0;
    while (resets < 20_000 && !session.destroyed && !session.closed) {
      for (let i = 0; i < 100 && !session.destroyed && !session.closed; i += 1) {
        begin(flood, session);
        resets += 1;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(resets).toBeLessThan(20_000);
    await expect.poll(() => session.destroyed).toBe(true);
  });
});

const OIP = '/inference.GRPCInferenceService';
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';

describe.each([
  NAME_PATH,
  INFER_PATH,
  `${OIP}/ServerLive`,
  `${OIP}/ModelInfer`,
  `${OIP}/ModelStreamInfer`,
  NAME_PATH.replace(/Name$/, 'TestLink'),
  '/grpc.health.v1.Health/Check',
  '/grpc.health.v1.Health/Watch',
  REFLECTION,
])('a SUT node ends a call to %s with INTERNAL', (path) => {
  it.each([1, 255])('that has a message with compressed flag %i', async (flag) => {
    const client = hostile();
    const message = grpcFrame(Buffer.alloc(0));
    message[0] = flag;
    const call = client.call(client.session(), path, message);
    call.stream.end();
    await expect.poll(() => call.outcome().grpcStatus).toBe(status.INTERNAL);
  });

  it('that ends inside a message', async () => {
    const client = hostile();
    const call = client.call(client.session(), path, grpcFrame(Buffer.alloc(2), 100));
    call.stream.end();
    await expect.poll(() => call.outcome().grpcStatus).toBe(status.INTERNAL);
  });
});

describe('a SUT node refuses', () => {
  it('a stream whose second message is cut short', async () => {
    const client = hostile();
    const cut = grpcFrame(Buffer.alloc(2), 100);
    const call = client.call(client.session(), INFER_PATH, Buffer.concat([OPEN, cut]));
    call.stream.end();
    await expect.poll(() => call.outcome().grpcStatus).toBe(status.INTERNAL);
  });

  it('a question of reflection that is cut short behind a whole one, by a reset', async () => {
    const client = hostile();
    const list = grpcFrame(Buffer.from([0x3a, 1, 0x2a]));
    const call = client.call(client.session(), REFLECTION, list);
    await expect.poll(() => call.outcome().isAnswered).toBe(true);
    call.stream.end(grpcFrame(Buffer.alloc(2), 100));
    await expect.poll(() => call.outcome().resetCode).toBe(RESET.internalError);
  });

  it.each([
    ['the method GET', { ':method': 'GET' }],
    ['a content-type of web pages', { 'content-type': 'text/html' }],
    ['a content-type that only begins as gRPC', { 'content-type': 'application/grpcs' }],
    ['a grpc-timeout of 11 digits', { 'grpc-timeout': '99999999999H' }],
    ['a grpc-timeout without a unit', { 'grpc-timeout': '10' }],
  ])('a call with %s', async (_what, headers) => {
    const client = hostile();
    const message = grpcFrame(Buffer.alloc(0));
    const call = client.call(client.session(), NAME_PATH, message, headers);
    call.stream.end();
    await expect.poll(() => call.outcome().grpcStatus).toBe(status.INTERNAL);
  });

  it('all but 32 of 1,000 Infer streams', async () => {
    const greedy = hostile();
    const sessions = Array.from({ length: 20 }, () => greedy.session());
    const calls = Array.from({ length: 1_000 }, (_, i) =>
      greedy.call(sessions[i % sessions.length] as (typeof sessions)[0], INFER_PATH, OPEN),
    );
    const refused = (): number =>
      calls.filter((call) => call.outcome().grpcStatus === status.RESOURCE_EXHAUSTED).length;
    await expect.poll(refused).toBe(1_000 - 32);
  });
});

describe('a SUT node does not keep more than the bytes', () => {
  it('of a part that comes in frames of one byte each', async () => {
    const before = peakBytes();
    const client = hostile();
    const body = Buffer.alloc(MIB);
    body.set([0x12], 0);
    await client.drip(INFER_PATH, Buffer.concat([OPEN, grpcFrame(Buffer.alloc(0), 4 * MIB)]), body);
    expect(await ask(node.address, 'Name', { nonce: 1 })).toMatchObject({ name: 'sut-a' });
    expect(client.openSocketCount).toBe(1);
    expect(peakBytes() - before).toBeLessThan(60 * MIB);
  });
});

describe('a SUT node with large responses', () => {
  it.each([1_025, MIB])(
    'keeps little of %d bytes each for a peer that never reads',
    async (responseBytes) => {
      const flags = ['--benchmark', 'null', '--response-bytes', String(responseBytes)];
      const large = await SutNodeProcess.start('sut-large', flags);
      onTestFinished(async () => {
        await large.stop();
      });
      await large.process.says(/is ready/);
      const before = peakBytes(large);
      const deaf = new HostileClient(large.address);
      clients.push(deaf);
      const samples = Array.from({ length: 600 }, (_, id) => wholeSample(id, Uint8Array.of(1)));
      const part = grpcFrame(encodePart({ query: 1, querySampleCount: 600, samples }));
      const runIds = ['deaf-1', 'deaf-2'];
      const sockets = await Promise.all(
        runIds.map((runId) => {
          const open = encodeLoadGenMessage({ open: { ...RAW_OPEN, benchmark: 'null', runId } });
          return deaf.deaf(INFER_PATH, Buffer.concat([grpcFrame(open), part]));
        }),
      );
      // 1,200 MiB of the larger responses, if a node kept what nobody reads.
      await sleep(1_500);
      for (const runId of runIds) {
        expect(await ask(large.address, 'Ledger', { runId })).toMatchObject({ sampleCount: 600 });
      }
      expect(sockets.some((socket) => socket.destroyed)).toBe(false);
      // Twice 32 MiB, one message of each stream, and what V8 has not collected yet.
      expect(peakBytes(large) - before).toBeLessThan(400 * MIB);
    },
  );
});

describe('everything at once', () => {
  it('leaves a run beside it VALID and the memory of the node bounded', async () => {
    const before = peakBytes();
    const run = new WarmLonghaul([
      ...['run', '--sut', node.address, '--benchmark', 'digits', '--data-dir', dataFolder],
      ...['--target-qps', '50', '--min-duration', '4s', '--min-query-count', '100', ...cache],
      ...['--target-latency', '10s', '--target-latency-percentile', '90'],
      ...['--generator-lag-max', '90', '--output', suiteFolder()],
    ]);
    await run.says(/performance run:/);
    const enemy = hostile();
    for (let i = 0; i < 200; i += 1) enemy.connect();
    const sessions = Array.from({ length: 10 }, () => enemy.session());
    for (const [i, session] of sessions.entries()) {
      for (let k = 0; k < 60; k += 1) {
        // 600 MiB, if a node kept what is announced as a part and never whole.
        const path = (i + k) % 2 === 0 ? NAME_PATH : INFER_PATH;
        enemy.call(session, path, grpcFrame(Buffer.alloc(MIB), 4 * MIB));
      }
    }
    // An opened stream that sends parts and reads no answer.
    const deaf = enemy.session({ settings: { initialWindowSize: 0 } });
    enemy.call(deaf, INFER_PATH, Buffer.concat([OPEN, grpcFrame(Buffer.alloc(4 * MIB), 8 * MIB)]));
    const { code, stdout } = await run.ended;
    expect(stdout).toMatch(/^VALID /m);
    expect(code).toBe(0);
    expect(peakBytes() - before).toBeLessThan(150 * MIB);
  });
});
