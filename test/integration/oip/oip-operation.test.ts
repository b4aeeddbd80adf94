import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, credentials, status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ModelInferRequest } from '../../../proto/gen/inference/ModelInferRequest.ts';
import { silentLogger } from '../../../shared/base/process/logger.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import {
  echo,
  echoNode,
  OipTestClient,
  rawRequest,
  slowNode,
} from '../../scenes/oip-server/oip-client.ts';
import { encodeRequest } from '../../scenes/oip-server/oip-messages.ts';
import { anyRequest, type FuzzedRequest } from '../../scenes/oip-server/oip-requests.ts';
import { HAS_OPENSSL, TestCertificates } from '../../scenes/sut-node/certificates.ts';
import { grpcFrame, HostileClient } from '../../scenes/sut-node/hostile-client.ts';
import { ask, askReflection } from '../../scenes/sut-node/sut-client.ts';
import { NO_DELAY, openStream, RAW_OPEN, startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: what holds for the native protocol holds for the Open Inference Protocol: limits, drain,
// tokens, certificates. Method: real nodes, a client made of the .proto file by grpc-js.

describe('the Open Inference Protocol of a SUT node', () => {
  it('answers what it has and takes no more while it shuts down', async () => {
    // It is told to stop long before its answers are there.
    const node = await slowNode(4e9);
    const client = new OipTestClient(node.address);
    const request = rawRequest('delay', { datatype: 'UINT8', shape: [1, 1], raw: Buffer.alloc(1) });
    const waiting = client.infer(request);
    const stream = client.stream();
    stream.send({ ...request, id: 's' });
    const native = await openStream(node, { ...RAW_OPEN, benchmark: 'delay' });
    await expect
      .poll(async () => (await ask(node.address, 'Ready', { benchmark: 'delay' })).ready)
      .toBe(true);
    const stopped = node.stop();
    const late = await client.refusal(request);
    expect(late).toMatchObject({ code: status.UNAVAILABLE });
    expect(late.details).toMatch(/shutting down/);
    expect((await waiting).outputs).toHaveLength(1);
    expect((await stream.received(1))[0]?.inferResponse?.id).toBe('s');
    expect(await stream.ended).toMatchObject({ code: status.UNAVAILABLE });
    await stopped;
    expect(node.isDrained).toBe(true);
    await native.ended;
  });

  it('drops what nobody waits for any more', async () => {
    const node = await slowNode(800e6, {
      delay: { ...NO_DELAY, model: { kind: 'fixed', ns: 800e6 }, concurrency: 1 },
    });
    const client = new OipTestClient(node.address);
    const request = rawRequest('delay', { datatype: 'UINT8', shape: [1, 1], raw: Buffer.alloc(1) });
    const first = client.infer(request);
    const late = await client.refusal(request, { deadline: Date.now() + 500 });
    expect(late.code).toBe(status.DEADLINE_EXCEEDED);
    await first;
    await client.infer(request);
    // The one in between is not served.
    expect(await client.ask('ModelStatistics')).toMatchObject({
      modelStats: [
        { executionCount: 2, inferenceStats: { success: { count: 2 }, fail: { count: 1 } } },
      ],
    });
  });

  it('logs who opened a stream, of models with large responses, too', async () => {
    const peers: unknown[] = [];
    const info = (fields: object, text: string): void => {
      if (text.includes('ModelStreamInfer')) peers.push((fields as { peer?: string }).peer);
    };
    const node = await startTestNode({ benchmark: 'echo' }, undefined, { ...silentLogger, info });
    const stream = new OipTestClient(node.address).stream();
    stream.send(echo(Buffer.from('a')));
    stream.halfClose();
    await stream.ended;
    expect(peers).toEqual([1, 2].map(() => expect.stringMatching(/^127\.0\.0\.1:\d+$/)));
  });

  it('is full at its queue’s limit, and streams wait instead', async () => {
    const node = await slowNode(500e6, { queueSamplesMax: 64 });
    const client = new OipTestClient(node.address);
    const rows = (count: number, id = ''): ModelInferRequest =>
      rawRequest(
        'delay',
        { datatype: 'UINT8', shape: [count, 1], raw: Buffer.alloc(count) },
        { id },
      );
    const most = client.infer(rows(60));
    const stream = client.stream();
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let i = 0; i < 3; i += 1) stream.send(rows(40, `${i}`));
    const full = await client.refusal(rows(40));
    expect(full).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(full.details).toMatch(/no room for 40 samples.*hold 60 samples/);
    expect((await most).outputs[0]?.shape[0]).toBe(60);
    stream.halfClose();
    expect(await stream.ended).toMatchObject({ code: status.OK });
    expect(stream.answers.map(({ errorMessage }) => errorMessage)).toEqual(['', '', '']);
    const never = await client.refusal(rows(65));
    expect(never).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(never.details).toMatch(/has 65 samples; a request may have 64/);
  });

  it('takes messages as large as its settings say, and refuses larger ones', async () => {
    const node = await echoNode({ messageBytesMax: 8 * 2 ** 20, sampleBytesMax: 8 * 2 ** 20 });
    const client = new OipTestClient(node.address);
    const large = Buffer.alloc(6 * 2 ** 20, 7);
    const answer = await client.infer(echo(large));
    expect(answer.rawOutputContents[0]?.equals(large)).toBe(true);
    const refused = await client.refusal(echo(Buffer.alloc(9 * 2 ** 20)));
    // On Node.js 26 a client of grpc-js that still writes tells of its write, not of the reset.
    expect([status.RESOURCE_EXHAUSTED, status.UNAVAILABLE]).toContain(refused.code);
    expect(await client.ask('ServerLive')).toEqual({ live: true });
  });

  it('is refused a token as everybody is, and leaves the service out where it is off', async () => {
    const tokenFile = join(tempFolder(), 'token');
    writeFileSync(tokenFile, '0123456789abcdef0123456789abcdef\n');
    const node = await echoNode({ tokenFile });
    const stranger = new OipTestClient(node.address);
    expect(await stranger.refusal(echo(Buffer.from('a')))).toMatchObject({
      code: status.UNAUTHENTICATED,
    });
    await expect(stranger.ask('ServerLive')).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    });
    const friend = new OipTestClient(node.address, { token: '0123456789abcdef0123456789abcdef' });
    expect((await friend.infer(echo(Buffer.from('a')))).rawOutputContents).toHaveLength(1);

    const without = await echoNode({ hasOip: false });
    const refusal = new OipTestClient(without.address).refusal(echo(Buffer.from('a')));
    expect(await refusal).toMatchObject({ code: status.UNIMPLEMENTED });
    const { answers } = await askReflection(without.address, [{ list_services: '' }]);
    const names = answers[0]?.list_services_response?.service.map(({ name }) => name);
    expect(names).not.toContain('inference.GRPCInferenceService');
    expect(names).toHaveLength(4);
  });

  it.skipIf(!HAS_OPENSSL)('asks for client certificates where it is told to', async () => {
    const files = new TestCertificates();
    const tls = { tlsCert: files.node.cert, tlsKey: files.node.key, tlsClientCa: files.ca };
    const node = await echoNode(tls);
    const ca = readFileSync(files.ca);
    const known = credentials.createSsl(
      ca,
      readFileSync(files.client.key),
      readFileSync(files.client.cert),
    );
    const client = new OipTestClient(node.address, { channel: known });
    expect(String((await client.infer(echo(Buffer.from('hi')))).rawOutputContents[0])).toBe('hi');
    const stranger = new OipTestClient(node.address, { channel: credentials.createSsl(ca) });
    expect((await stranger.refusal(echo(Buffer.from('hi')))).code).toBe(status.UNAVAILABLE);
  });

  it('has room for so many bytes of requests that are not whole, and for one message per call', async () => {
    const node = await echoNode({
      messageBytesMax: 2 ** 20,
      sampleBytesMax: 2 ** 20,
      queueBytesMax: 4 * 2 ** 20,
    });
    const hostile = new HostileClient(node.address);
    onTestFinished(() => hostile.stop());
    const session = hostile.session();
    const path = '/inference.GRPCInferenceService/ModelInfer';
    const begun = (bytes: number) =>
      hostile.call(session, path, grpcFrame(Buffer.alloc(8), bytes)).outcome;
    const held = [1, 2, 3, 4].map(() => begun(2 ** 20));
    // One behind the other on one connection, so that the order is known.
    const full = begun(2 ** 20);
    const tooLarge = begun(2 ** 20 + 1);
    const whole = grpcFrame(encodeRequest(echo(Buffer.from('a'))));
    await expect.poll(() => [full().grpcStatus, full().resetCode]).toEqual([8, 0]);
    const words = await new OipTestClient(node.address).refusal(echo(Buffer.alloc(1_000)));
    expect(words).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(words.details).toMatch(/no room for a request of 10\d\d bytes.*hold 4194304 bytes/);
    expect(tooLarge().resetCode).toBe(11);
    expect(held.map((outcome) => outcome().resetCode)).toEqual(held.map(() => undefined));
    session.destroy();
    const twice = hostile.call(hostile.session(), path, Buffer.concat([whole, whole])).outcome;
    await expect.poll(() => twice().resetCode).toBe(11);
    const client = new OipTestClient(node.address);
    const answer = await client.infer(echo(Buffer.alloc(2 ** 19, 1)));
    expect(answer.outputs[0]?.shape).toEqual([1, 2 ** 19]);
  });

  it('has room beside a peer that takes none of its answers, and keeps few of those', async () => {
    const bytes = 2 ** 20;
    const node = await echoNode({
      messageBytesMax: 2 * bytes,
      sampleBytesMax: bytes,
      queueBytesMax: 4 * bytes,
    });
    const hostile = new HostileClient(node.address);
    onTestFinished(() => hostile.stop());
    const session = hostile.session({ settings: { initialWindowSize: 0 } });
    const client = new OipTestClient(node.address);
    const message = grpcFrame(encodeRequest(echo(Buffer.alloc(bytes))));
    const calls: ReturnType<HostileClient['call']>[] = [];
    const openCount = (): number =>
      calls.filter(({ outcome }) => outcome().resetCode === undefined).length;
    for (let i = 0; i < 12; i += 1) {
      const call = hostile.call(session, '/inference.GRPCInferenceService/ModelInfer', message);
      call.stream.end();
      calls.push(call);
      const isAnswered = new Promise((resolve) => call.stream.once('response', resolve));
      await isAnswered;
      const other = await client.infer(echo(Buffer.alloc(bytes, 1)));
      expect(other.outputs[0]?.shape).toEqual([1, bytes]);
    }
    // The answers of those that waited longest were dropped for the others.
    await expect.poll(openCount).toBeLessThanOrEqual(4);
    expect(openCount()).toBeGreaterThan(0);
  });

  it('lives through whatever bytes are sent to it, and answers what is right', async () => {
    const node = await echoNode();
    const before = process.memoryUsage().heapUsed;
    const client = new Client(node.address, credentials.createInsecure());
    onTestFinished(() => client.close());
    const asIs = (bytes: Buffer): Buffer => bytes;
    const path = '/inference.GRPCInferenceService/ModelInfer';
    const codes = new Map<number, number>();
    const list = fc.array(anyRequest('echo'), { minLength: 40, maxLength: 40 });
    const ask = ({ bytes, expected }: FuzzedRequest): Promise<void> =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(path, asIs, asIs, bytes, (error, answer) => {
          const code = error?.code ?? status.OK;
          codes.set(code, (codes.get(code) ?? 0) + 1);
          // The valid part is at the end of the message: the raw contents.
          const isRight =
            expected === undefined || answer?.subarray(-expected.length).equals(expected);
          if (expected?.length === 0 || isRight === true) resolve();
          else reject(error ?? new Error('a wrong answer'));
        });
      });
    await fc.assert(
      fc.asyncProperty(list, async (requests) => {
        await Promise.all(requests.map(ask));
      }),
      { seed: 1, numRuns: 20, endOnFailure: true },
    );
    const fair = [status.OK, status.INVALID_ARGUMENT, status.NOT_FOUND, status.RESOURCE_EXHAUSTED];
    expect([...codes.keys()].filter((code) => !fair.includes(code))).toEqual([]);
    expect(codes.get(status.OK)).toBeGreaterThan(100);
    const good = new OipTestClient(node.address);
    expect((await good.infer(echo(Buffer.from('alive')))).id).toBe('');
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(256 * 2 ** 20);
  });
});
