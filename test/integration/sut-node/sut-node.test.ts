import { connect } from 'node:net';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { JPEG_QUALITY } from '../../../shared/benchmarks/digits/digit-sets.ts';
import { decodeResponse } from '../../../shared/benchmarks/digits/response.ts';
import { encodeJpeg } from '../../../shared/benchmarks/image/jpeg.ts';
import { IMAGE_SIZE } from '../../../shared/rules/cards/digits.ts';
import { FAILURE_CODES } from '../../../shared/wire/responses-codec.ts';
import { ask, wholeSample } from '../../scenes/sut-node/sut-client.ts';
import {
  digit,
  JPEG_OPEN,
  openStream,
  RAW_OPEN,
  rawSamples,
  startTestNode,
} from '../../scenes/sut-node/sut-node.ts';

// Goal: a real node answers every method, keeps its promises to honest peers and outlives the
// others. Method: the digits benchmark, real gRPC on loopback, real worker threads from dist/.

describe('the unary methods of a SUT node', () => {
  it('tell its name, state and facts', async () => {
    const node = await startTestNode({ node: 'sut-b', batchSizeMax: 5 });
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
    const components = facts.components.map((component) => component.name);
    expect(components).toEqual(expect.arrayContaining(['onnxruntime-node', 'lz4 codec']));
    expect(facts.models[0]?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(facts.models[0]?.inputs[0]).toMatchObject({ shape: [0, 3, IMAGE_SIZE, IMAGE_SIZE] });
    expect(facts.host?.cpuCount).toBeGreaterThan(0);
    expect(await ask(node.address, 'Ledger', { runId: 'never' })).toMatchObject({ known: false });
  });
});

describe('Infer of a SUT node', () => {
  it('classifies images that come as JPEG and as raw pixels', async () => {
    const node = await startTestNode({ workerCount: 2 });
    const indices = Array.from({ length: 40 }, (_, i) => i);
    const size = { width: IMAGE_SIZE, height: IMAGE_SIZE };
    const jpeg = await openStream(node, JPEG_OPEN);
    const raw = await openStream(node, { ...RAW_OPEN, streamIndex: 1 });
    for (const index of indices) {
      const { rgb } = digit(index);
      const image = await encodeJpeg(rgb, size, JPEG_QUALITY);
      jpeg.part(index, [wholeSample(2 * index, image)], 2);
      raw.part(index, [wholeSample(2 * index + 1, rgb)], 2);
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
    const node = await startTestNode();
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
    const node = await startTestNode();
    const client = await openStream(node, RAW_OPEN);
    const bad = wholeSample(100, Buffer.from('no pixels'));
    client.part(0, [...rawSamples(2), bad, ...rawSamples(2, 2)]);
    client.close();
    expect(await client.ended).toMatchObject({ code: status.OK });
    expect(client.completed.map((sample) => sample.id).sort()).toEqual([0, 1, 2, 3]);
    expect(client.failed).toMatchObject([{ id: 100, code: FAILURE_CODES['bad-sample'] }]);
    expect(client.failed[0]?.text).toContain('this payload has 9');
  });

  it('takes a sample in pieces, and the end of the client’s side for Close', async () => {
    const node = await startTestNode();
    const client = await openStream(node, RAW_OPEN);
    const { rgb, label } = digit(3);
    for (let offset = 0; offset < rgb.length; offset += 3_000) {
      const payload = rgb.subarray(offset, offset + 3_000);
      client.part(0, [{ id: 5, payload, encoding: 0, offset, total: rgb.length }], 1);
    }
    client.halfClose();
    expect(await client.ended).toMatchObject({ code: status.OK });
    expect(client.completed.map((sample) => sample.id)).toEqual([5]);
    expect(decodeResponse(client.completed[0]?.payload ?? new Uint8Array(0))).toBe(label);
  });

  it('lets a query flow through that is many times larger than its queue', async () => {
    const node = await startTestNode({
      queueBytesMax: 256 * 1024,
      queueSamplesMax: 64,
      workerCount: 2,
    });
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

  it('refuses bytes that are no message and goes on serving', async () => {
    const node = await startTestNode();
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
    const node = await startTestNode();
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
});
