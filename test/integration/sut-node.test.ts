import { writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Open } from '../../proto/gen/mlperf/network/v1/Open.ts';
import { EVALUATION_SET, IMAGE_SIZE, JPEG_QUALITY } from '../../shared/digits/digit-sets.ts';
import { renderDigit } from '../../shared/digits/render-digit.ts';
import { decodeResponse } from '../../shared/digits/response.ts';
import { encodeJpeg } from '../../shared/image/jpeg.ts';
import { silentLogger } from '../../shared/process/logger.ts';
import { FAILURE_CODES } from '../../shared/wire/responses-codec.ts';
import { sutBenchmark } from '../../sut-node/benchmarks/registry.ts';
import { GraphBuilder } from '../../sut-node/onnx/graph-builder.ts';
import type { SutSettings } from '../../sut-node/settings/sut-settings.ts';
import { type SutNode, type SutNodeParts, startSutNode } from '../../sut-node/sut-node.ts';
import { spawnOrtWorker, type WorkerThread } from '../../sut-node/workers/worker-thread.ts';
import { ask, InferClient, wholeSample } from '../support/infer-client.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { testCacheFolder } from '../support/test-cache.ts';

// Goal: a real node answers every method, keeps its promises to honest peers and outlives the others.
// Method: the digits benchmark, real gRPC on loopback, real worker threads from dist/.

const SETTINGS: SutSettings = {
  benchmark: 'digits',
  listen: { host: '127.0.0.1', port: 0 },
  node: 'sut-a',
  model: undefined,
  workerCount: 1,
  threadsPerWorker: 1,
  batchSizeMax: 8,
  batchDelayUsMax: 0,
  queueBytesMax: 64 * 1024 * 1024,
  queueSamplesMax: 4_096,
  messageBytesMax: 16 * 1024 * 1024,
  receiveWindowBytes: 4 * 1024 * 1024,
  drainTimeoutNs: 10e9,
  cacheFolder: testCacheFolder(),
};

const JPEG_OPEN: Open = {
  protocolVersion: 1,
  runId: 'run-1',
  benchmark: 'digits',
  division: 'DIVISION_NETWORK',
  encodings: [{ form: 'jpeg', compression: 'identity' }],
  responseEncodings: [{ form: 'raw', compression: 'identity' }],
};
const RAW_OPEN: Open = { ...JPEG_OPEN, encodings: [{ form: 'raw', compression: 'identity' }] };

const nodes: SutNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

async function start(settings: Partial<SutSettings> = {}, parts?: SutNodeParts): Promise<SutNode> {
  const hooks = { onProgress: () => {}, logger: silentLogger };
  const node = await startSutNode({ ...SETTINGS, ...settings }, hooks, parts);
  nodes.push(node);
  return node;
}

async function openStream(node: SutNode, open: Open): Promise<InferClient> {
  const client = new InferClient(node.address, open);
  onTestFinished(() => client.cancel());
  await client.opened;
  return client;
}

/** Image `index` of the evaluation set. */
function digit(index: number): { label: number; rgb: Uint8Array } {
  return renderDigit(EVALUATION_SET, index);
}

function rawSamples(count: number, firstId = 0) {
  const { rgb } = digit(0);
  return Array.from({ length: count }, (_, i) => wholeSample(firstId + i, rgb));
}

describe('the unary methods of a SUT node', () => {
  it('tell its name, state and facts', async () => {
    const node = await start({ node: 'sut-b', batchSizeMax: 5 });
    expect(node).toMatchObject({ name: 'sut-b', state: 'NODE_STATE_READY' });
    expect(node.address).toBe(`127.0.0.1:${node.port}`);
    const name = await ask(node.address, 'Name', { nonce: 77 });
    expect(name).toMatchObject({ name: 'sut-b', nonce: 77 });
    const ready = await ask(node.address, 'Ready', { benchmark: 'digits' });
    expect(ready).toMatchObject({ ready: true, state: 'NODE_STATE_READY' });
    const other = await ask(node.address, 'Ready', { benchmark: 'bert' });
    expect(other).toMatchObject({ ready: false, detail: expect.stringContaining('"bert"') });
    const facts = await ask(node.address, 'Describe', {});
    expect(facts).toMatchObject({
      name: 'sut-b',
      nodeIdentity: name.nodeIdentity,
      software: 'longhaul',
      protocolVersionMin: 1,
      settings: { batchSizeMax: '5', node: 'sut-b', listen: '127.0.0.1:0' },
      limits: { streamWindowBytes: 4 * 1024 * 1024, connectionWindowBytes: 4 * 1024 * 1024 },
    });
    expect(facts.components.map((component) => component.name)).toContain('onnxruntime-node');
    expect(facts.models[0]?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(facts.models[0]?.inputs[0]).toMatchObject({ shape: [0, 3, IMAGE_SIZE, IMAGE_SIZE] });
    expect(facts.host?.cpuCount).toBeGreaterThan(0);
    expect(await ask(node.address, 'Ledger', { runId: 'never' })).toMatchObject({ known: false });
  });

  it('answer while the model loads, when Infer does not', async () => {
    const benchmark = sutBenchmark('digits');
    let goOn = (): void => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const port = await freePort();
    const starting = start(
      { listen: { host: '127.0.0.1', port } },
      {
        benchmark: {
          ...benchmark,
          prepareModel: async (options) => {
            options.onProgress(0.25, 'drawing');
            await gate;
            return benchmark.prepareModel(options);
          },
        },
        spawn: spawnOrtWorker,
      },
    );
    const address = `127.0.0.1:${port}`;
    await untilListening(port);
    expect(await ask(address, 'Name', { nonce: 1 })).toMatchObject({ name: 'sut-a' });
    expect(await ask(address, 'Ready', { benchmark: 'digits' })).toMatchObject({
      ready: false,
      state: 'NODE_STATE_LOADING',
      detail: 'drawing (25 %)',
    });
    const early = new InferClient(address, JPEG_OPEN);
    expect(await early.ended).toMatchObject({
      code: status.UNAVAILABLE,
      details: 'SUT node sut-a is not ready: drawing (25 %)',
    });
    goOn();
    expect((await starting).state).toBe('NODE_STATE_READY');
  });
});

describe('Infer of a SUT node', () => {
  it('classifies images that come as JPEG and as raw pixels', async () => {
    const node = await start({ workerCount: 2 });
    const indices = Array.from({ length: 40 }, (_, i) => i);
    const size = { width: IMAGE_SIZE, height: IMAGE_SIZE };
    const jpeg = await openStream(node, JPEG_OPEN);
    const raw = await openStream(node, { ...RAW_OPEN, streamIndex: 1 });
    for (const index of indices) {
      const { rgb } = digit(index);
      jpeg.part(index, [wholeSample(2 * index, await encodeJpeg(rgb, size, JPEG_QUALITY))]);
      raw.part(index, [wholeSample(2 * index + 1, rgb)]);
    }
    for (const client of [jpeg, raw]) client.close();
    for (const client of [jpeg, raw]) {
      expect(await client.ended).toMatchObject({ code: status.OK });
      expect(client.failed).toEqual([]);
      const right = client.completed.filter(
        ({ id, payload }) => decodeResponse(payload) === digit(Math.floor(id / 2)).label,
      );
      expect(client.completed).toHaveLength(40);
      expect(right.length).toBeGreaterThan(30);
    }
    expect(await ask(node.address, 'Ledger', { runId: 'run-1' })).toMatchObject({
      known: true,
      queryCount: 40,
      partCount: 80,
      sampleCount: 80,
      completedCount: 80,
      failedCount: 0,
      responseBytes: 320,
      streamCount: 2,
    });
  });

  it('tells durations that are all there and fit into the time outside', async () => {
    const node = await start();
    const client = await openStream(node, RAW_OPEN);
    const beganAtNs = performance.now() * 1e6;
    client.part(0, rawSamples(1));
    await client.answered(1);
    const outsideNs = performance.now() * 1e6 - beganAtNs;
    const durations = client.completed[0]?.durations;
    if (durations === undefined) throw new Error('no durations');
    const sumNs = Object.values(durations).reduce((a: number, b: number) => a + b, 0);
    expect(sumNs).toBeLessThan(outsideNs);
    expect(durations.computeNs).toBeGreaterThan(10_000);
    expect(Math.min(...Object.values(durations))).toBeGreaterThanOrEqual(0);
  });

  it('fails a sample that it cannot read, without harm to the others of its batch', async () => {
    const node = await start();
    const client = await openStream(node, RAW_OPEN);
    const bad = wholeSample(100, Buffer.from('no pixels'));
    client.part(0, [...rawSamples(2), bad, ...rawSamples(2, 2)]);
    client.close();
    expect(await client.ended).toMatchObject({ code: status.OK });
    expect(client.completed.map((sample) => sample.id).sort()).toEqual([0, 1, 2, 3]);
    expect(client.failed).toMatchObject([{ id: 100, code: FAILURE_CODES['bad-sample'] }]);
    expect(client.failed[0]?.text).toContain('this payload has 9');
  });

  it('takes a sample in pieces', async () => {
    const node = await start();
    const client = await openStream(node, RAW_OPEN);
    const { rgb, label } = digit(3);
    for (let offset = 0; offset < rgb.length; offset += 3_000) {
      const payload = rgb.subarray(offset, offset + 3_000);
      client.part(0, [{ id: 5, payload, encoding: 0, offset, total: rgb.length }], 1);
    }
    client.close();
    await client.ended;
    expect(client.completed.map((sample) => sample.id)).toEqual([5]);
    expect(decodeResponse(client.completed[0]?.payload ?? new Uint8Array(0))).toBe(label);
  });

  it('lets a query flow through that is many times larger than its queue', async () => {
    const node = await start({ queueBytesMax: 256 * 1024, queueSamplesMax: 64, workerCount: 2 });
    const client = await openStream(node, RAW_OPEN);
    const { rgb } = digit(0);
    const count = 1_500;
    let sent = 0;
    client.onMessage = () => {
      while (sent < count && sent < client.creditSamples) {
        if ((sent + 1) * rgb.length > client.creditBytes) return;
        client.part(0, [wholeSample(sent, rgb)], count);
        sent += 1;
      }
      if (client.answeredCount === count) client.close();
    };
    client.onMessage();
    expect(await client.ended).toMatchObject({ code: status.OK });
    expect(client.completed).toHaveLength(count);
    expect(await ask(node.address, 'Ledger', { runId: 'run-1' })).toMatchObject({
      queryCount: 1,
      sampleCount: count,
      payloadBytes: count * rgb.length,
    });
  });

  it('takes the end of the client’s side for Close', async () => {
    const node = await start();
    const client = await openStream(node, RAW_OPEN);
    client.part(0, rawSamples(3));
    client.halfClose();
    expect(await client.ended).toMatchObject({ code: status.OK });
    expect(client.completed).toHaveLength(3);
  });

  it('ends the stream of a peer that sends more than it was granted', async () => {
    const node = await start({ queueSamplesMax: 8 });
    const client = await openStream(node, RAW_OPEN);
    client.part(0, rawSamples(200));
    const end = await client.ended;
    expect(end.code).toBe(status.RESOURCE_EXHAUSTED);
    expect(end.details).toContain('more was sent than this node granted');
  });

  it('refuses bytes that are no message and goes on serving', async () => {
    const node = await start();
    const garbage = [
      Buffer.alloc(0),
      Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]),
      Buffer.from('GET / HTTP/1.1'),
      Buffer.alloc(1_000, 0x12),
    ];
    for (const bytes of garbage) {
      const client = await openStream(node, RAW_OPEN);
      client.write(bytes);
      expect(await client.ended).toMatchObject({ code: status.INVALID_ARGUMENT });
    }
    const socket = connect(node.port, '127.0.0.1');
    socket.end('not even HTTP/2');
    const good = await openStream(node, RAW_OPEN);
    good.part(0, rawSamples(1));
    await good.answered(1);
    expect(good.completed).toHaveLength(1);
  });

  it('drops the samples of a client that goes away and goes on serving', async () => {
    const node = await start();
    const gone = await openStream(node, RAW_OPEN);
    gone.part(0, rawSamples(100));
    await gone.answered(1);
    gone.cancel();
    const good = await openStream(node, { ...RAW_OPEN, runId: 'run-2' });
    good.part(0, rawSamples(1));
    await good.answered(1);
    expect(good.completed).toHaveLength(1);
    const ledger = await ask(node.address, 'Ledger', { runId: 'run-1' });
    expect(ledger.sampleCount).toBe(100);
    expect(ledger.completedCount).toBeLessThan(100);
  });

  it('fails the samples of a worker that ends, replaces it and goes on', async () => {
    const threads: WorkerThread[] = [];
    const node = await start(
      {},
      {
        benchmark: sutBenchmark('digits'),
        spawn: (name, workerStart, events) => {
          const thread = spawnOrtWorker(name, workerStart, events);
          threads.push(thread);
          return thread;
        },
      },
    );
    const client = await openStream(node, RAW_OPEN);
    client.part(0, rawSamples(100));
    await client.answered(1);
    await threads[0]?.terminate();
    client.close();
    expect(await client.ended).toMatchObject({ code: status.OK });
    expect(client.answeredCount).toBe(100);
    expect(client.failed.length).toBeGreaterThan(0);
    expect(client.failed.length).toBeLessThanOrEqual(2 * SETTINGS.batchSizeMax);
    expect(client.failed[0]).toMatchObject({ code: FAILURE_CODES.inference });
    expect(threads).toHaveLength(2);
    expect(node.state).toBe('NODE_STATE_READY');
  });
});

describe('the end of a SUT node', () => {
  it('answers what is outstanding and then closes everything', async () => {
    const node = await start();
    const client = await openStream(node, RAW_OPEN);
    client.part(0, rawSamples(300));
    await client.answered(1);
    await node.stop();
    await node.closed;
    const end = await client.ended;
    expect(client.completed).toHaveLength(300);
    expect(client.drainReasons).toEqual(['SUT node sut-a is shutting down']);
    expect(end.code).toBe(status.UNAVAILABLE);
    await expect(ask(node.address, 'Name', { nonce: 1 })).rejects.toMatchObject({
      code: status.UNAVAILABLE,
    });
  });

  it('fails what is still waiting when the drain takes too long', async () => {
    const node = await start({ drainTimeoutNs: 1e6 });
    const client = await openStream(node, RAW_OPEN);
    client.part(0, rawSamples(300));
    await client.answered(1);
    await node.stop();
    await client.ended;
    expect(client.failed.length).toBeGreaterThan(0);
    expect(client.failed[0]).toMatchObject({ code: FAILURE_CODES.draining });
  });

  it('is told when workers cannot be replaced, and Ready tells the reason', async () => {
    const threads: WorkerThread[] = [];
    const node = await start(
      {},
      {
        benchmark: sutBenchmark('digits'),
        spawn: (name, workerStart, events) => {
          const file = threads.length === 0 ? workerStart.modelFile : 'gone.onnx';
          const thread = spawnOrtWorker(name, { ...workerStart, modelFile: file }, events);
          threads.push(thread);
          return thread;
        },
      },
    );
    const client = await openStream(node, RAW_OPEN);
    const fatal = new Promise<Error>((resolve) => node.onFatal(resolve));
    client.part(0, rawSamples(100));
    await threads[0]?.terminate();
    expect((await fatal).message).toContain('gone.onnx');
    expect(node.state).toBe('NODE_STATE_FAILED');
    expect(await client.ended).toMatchObject({ code: status.UNAVAILABLE });
    expect(client.answeredCount).toBe(100);
    const ready = await ask(node.address, 'Ready', { benchmark: 'digits' });
    expect(ready).toMatchObject({ ready: false, state: 'NODE_STATE_FAILED' });
    expect(ready.detail).toContain('gone.onnx');
  });
});

describe('a SUT node that cannot start', () => {
  it('names the address that is in use, in one line', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      blocker.close();
    });
    const { port } = blocker.address() as { port: number };
    await expect(start({ listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({
      code: 'ERR_SUT_LISTEN',
      message: `cannot listen on 127.0.0.1:${port}: the address is already in use`,
    });
  });

  it.each([
    ['is missing', undefined, 'there is no such file'],
    ['is not ONNX', Buffer.from('not a model'), 'is not an ONNX model'],
    ['does not fit', modelFile(['batch', 3, 8, 8]), 'does not fit the benchmark digits'],
    ['has a fixed batch axis', modelFile([1, 3, IMAGE_SIZE, IMAGE_SIZE]), 'no free batch axis'],
  ])('says so when the model %s, and leaves nothing open', async (_case, bytes, text) => {
    const model = join(tempFolder(), 'mine.onnx');
    if (bytes !== undefined) await writeFile(model, bytes);
    const port = await freePort();
    const starting = start({ model, listen: { host: '127.0.0.1', port } });
    await expect(starting).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringContaining(text),
    });
    await expect(starting).rejects.toThrow('mine.onnx');
    await expect(ask(`127.0.0.1:${port}`, 'Name', { nonce: 1 })).rejects.toMatchObject({
      code: status.UNAVAILABLE,
    });
  });
});

/** A model with an input of the digits benchmark's name, and its label as output. */
function modelFile(shape: readonly (number | string)[]): Uint8Array {
  const benchmark = sutBenchmark('digits');
  const graph = new GraphBuilder('test');
  const image = graph.input(benchmark.input.name, 'float', shape);
  const flat = graph.operator('Flatten', [image]);
  const [output] = benchmark.outputNames;
  graph.operator('ArgMax', [flat], { axis: 1, keepdims: 0 }, output);
  graph.output(output ?? '', 'int64', [shape[0] as number | string]);
  return graph.build();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  return port;
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.unref();
    });
    if (isOpen) return;
  }
}
