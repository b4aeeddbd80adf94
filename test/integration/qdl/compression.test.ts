import { randomBytes } from 'node:crypto';
import { Client, credentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { benchmark as digits } from '../../../loadgen-node/samples/benchmarks/digits/benchmark.ts';
import type { DispatchSettings } from '../../../qdl/index.ts';
import { decodeResponse } from '../../../shared/benchmarks/digits/response.ts';
import {
  availableCodecs,
  type CompressionName,
  codecNamed,
} from '../../../shared/compression/codec.ts';
import type { SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import { encodePart } from '../../../shared/wire/part-codec.ts';
import { FAILURE_CODES } from '../../../shared/wire/responses-codec.ts';
import { INFER_METHOD, SUT_METHODS } from '../../../shared/wire/sut-contract.ts';
import { suiteFolder, testCacheFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess } from '../../scenes/host/processes.ts';
import { smallDataSet } from '../../scenes/simulated-run/data-sets.ts';
import { readRunLogs } from '../../scenes/simulated-run/run-logs.ts';
import {
  type FakeSutNode,
  fakeSutNodes,
  openQdl,
  queryOf,
} from '../../scenes/sut-node/fake-sut-node.ts';
import { ask, wholeSample } from '../../scenes/sut-node/sut-client.ts';
import { digit, openStream, RAW_OPEN, startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: compression changes bytes on the wire and nothing else, goes no further than the rules or
// is marked, and neither end can be harmed by what the other sends. Method: real runs against real
// nodes; then a real node with hostile peers, and a real QDL with a hostile node.

const IMAGE_COUNT = 64;
const cache = ['--cache-dir', testCacheFolder()];

describe('longhaul run', () => {
  const nodes: SutNodeProcess[] = [];
  let dataFolder = '';

  beforeAll(async () => {
    dataFolder = await smallDataSet(IMAGE_COUNT);
    for (const flags of [[], ['--response-compression', 'lz4']]) {
      const node = await SutNodeProcess.start(`sut-${nodes.length}`, [...cache, ...flags]);
      nodes.push(node);
      await node.process.says(/is ready/);
    }
  });

  afterAll(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.stop()));
  });

  async function run(node: number, ...flags: string[]) {
    const output = suiteFolder();
    const ended = await longhaul([
      ...['run', '--sut', nodes[node]?.address as string, '--benchmark', 'digits'],
      ...['--mode', 'accuracy', '--target-qps', '400', '--output', output],
      ...['--data-dir', dataFolder, ...cache, ...flags],
    ]);
    return { ...ended, logs: readRunLogs(output) };
  }

  /** Payload bytes that the data set has, each image compressed by itself. */
  async function payloadBytes(compression: CompressionName): Promise<number> {
    const dataSet = await digits.openDataSet({ dataFolder, cacheFolder: '', onProgress: () => {} });
    let bytes = 0;
    for (let i = 0; i < IMAGE_COUNT; i += 1) {
      const payload = await dataSet.readPayload(i, 'raw');
      bytes += codecNamed(compression).compress(payload).length;
    }
    return bytes;
  }

  it('gives the same answers with and without compression, and counts what was on the wire', async () => {
    const answers: string[][] = [];
    const runs = [
      { node: 0, compression: 'identity', flags: [] },
      { node: 0, compression: 'gzip', flags: ['--compression', 'gzip'] },
      {
        node: 1,
        compression: 'lz4',
        flags: ['--compression', 'lz4', '--response-compression', 'lz4'],
      },
    ] as const;
    for (const { node, compression, flags } of runs) {
      const { code, stdout, logs } = await run(node, '--encoding', 'raw', ...flags);
      expect(stdout).toMatch(/^VALID /m);
      expect(code).toBe(0);
      const bytes = await payloadBytes(compression);
      expect(stdout).toContain(
        `both ends counted ${IMAGE_COUNT} samples and ${bytes} payload bytes`,
      );
      if (compression !== 'identity')
        expect(stdout).toContain(`sent as raw, compressed by ${compression}`);
      const byIndex = logs.accuracy.toSorted((a, b) => a.qsl_idx - b.qsl_idx);
      answers.push(byIndex.map(({ qsl_idx, data }) => `${qsl_idx}: ${data}`));
    }
    expect(answers[0]).toHaveLength(IMAGE_COUNT);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('goes beyond the rules with --division open only, and then every log says so', async () => {
    const beyond = ['--encoding', 'raw', '--compression', 'lz4', '--compression-scope', 'query'];
    const refused = await longhaul([
      ...['run', '--sut', nodes[0]?.address as string, '--benchmark', 'digits'],
      ...['--target-qps', '400', ...cache, ...beyond],
    ]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      'the rule: "Only per-Sample compression is allowed, except for DLRMv2 Server mode where per-Query ' +
        'compression is allowed."',
    );
    const open = await run(0, ...beyond, '--division', 'open');
    expect(open.code).toBe(0);
    expect(open.stdout).toContain('Accuracy');
    const mark = 'division open: the rules of the Network division are not enforced';
    const breach = 'against the rules of the Network division: benchmark digits in round v4.1';
    for (const text of [open.stdout, open.logs.summary]) {
      expect(text).toContain(mark);
      expect(text).toContain(breach);
    }
    expect(open.logs.value('longhaul_note')).toBeDefined();
    const bytes = await payloadBytes('lz4');
    expect(open.stdout).toContain(
      `both ends counted ${IMAGE_COUNT} samples and ${bytes} payload bytes`,
    );
  });

  it('is refused by a node whose responses it does not read', async () => {
    const { code, stderr } = await longhaul([
      ...['run', '--sut', nodes[1]?.address as string, '--benchmark', 'digits'],
      ...['--target-qps', '400', '--data-dir', dataFolder, ...cache],
    ]);
    expect(code).toBe(4);
    expect(stderr).toContain('responses travel as raw/lz4, the run reads raw/identity');
  });
});

describe('longhaul loadgen compression', () => {
  it("shows a round's table, and the rules' words where they are requested", async () => {
    const { code, stdout } = await longhaul(['loadgen', 'compression', '--round', 'v5.0']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^3d-unet +none, lossless +none, lossless +no$/m);
    expect(stdout).toMatch(/^dlrm-v2 +none, lossless +none +Server$/m);
    expect(stdout).toMatch(/^rgat +none +none +no$/m);
    expect(stdout).not.toContain('No compression allowed.');
    expect(stdout).toContain('lossless here: lz4, gzip');
    const { stdout: words } = await longhaul([
      'loadgen',
      'compression',
      '--round',
      'v6.1',
      '--text',
    ]);
    expect(words).toContain('rgat: No compression allowed.');
    expect(words).toContain('except for DLRMv3 Server mode');
  });
});

describe('a SUT node', () => {
  it('offers every codec of its Node for each form, and tells how it responds', async () => {
    const node = await startTestNode({ responseCompression: 'gzip' });
    const { models, settings } = await ask(node.address, 'Describe', {});
    expect(models[0]?.encodings).toEqual(
      ['jpeg', 'raw'].flatMap((form) =>
        availableCodecs().map((compression) => ({ form, compression })),
      ),
    );
    expect(models[0]?.responseEncodings).toEqual([{ form: 'raw', compression: 'gzip' }]);
    expect(settings['responseCompression']).toBe('gzip');
  });

  it('fails broken samples and bombs, answers the others, and stays up', async () => {
    const node = await startTestNode();
    const { rgb, label } = digit(0);
    const encodings = (['lz4', 'gzip'] as const).map((compression) => ({
      form: 'raw',
      compression,
    }));
    const stream = await openStream(node, { ...RAW_OPEN, encodings });
    const bomb = new Uint8Array(64 * 1024 * 1024);
    encodings.forEach(({ compression }, encoding) => {
      const { compress } = codecNamed(compression);
      const payloads = [
        compress(rgb),
        compress(rgb).subarray(0, 900),
        compress(bomb),
        compress(rgb.subarray(1)),
        rgb,
        compress(rgb),
      ];
      payloads.forEach((payload, i) => {
        const id = 10 * encoding + i;
        stream.part(id, [{ ...wholeSample(id, payload), encoding }]);
      });
    });
    await stream.answered(12);
    const byId = stream.completed.toSorted((a, b) => a.id - b.id);
    expect(byId.map(({ id }) => id)).toEqual([0, 5, 10, 15]);
    expect(byId.map(({ payload }) => decodeResponse(payload))).toEqual(Array(4).fill(label));
    expect(stream.failed.map(({ code }) => code)).toEqual(
      Array(8).fill(FAILURE_CODES['bad-sample']),
    );
    expect(node.state).toBe('NODE_STATE_READY');
  });

  it('takes the samples of a query out of the payload that was compressed as a whole', async () => {
    const node = await startTestNode({ batchSizeMax: 2 });
    const digits = [0, 1, 2].map(digit);
    const rgbs = digits.map(({ rgb }) => rgb);
    const encodings = [{ form: 'raw', compression: 'lz4' }];
    const stream = await openStream(node, { ...RAW_OPEN, encodings });
    const queryPayload = codecNamed('lz4').compress(Buffer.concat(rgbs));
    const samples = rgbs.map((_, id) => wholeSample(id, new Uint8Array(0)));
    const part = { query: 0, querySampleCount: 3, samples, queryPayload, queryEncoding: 0 };
    stream.write(encodePart({ ...part, querySampleBytes: rgbs.map(({ length }) => length) }));
    await stream.answered(3);
    const byId = stream.completed.toSorted((a, b) => a.id - b.id);
    expect(byId.map(({ payload }) => decodeResponse(payload))).toEqual(
      digits.map(({ label }) => label),
    );
    expect(await ask(node.address, 'Ledger', { runId: 'run-1' })).toMatchObject({
      sampleCount: 3,
      payloadBytes: queryPayload.length,
    });
  });

  it.each([
    ['gzip', 2],
    ['deflate', 1],
  ])('refuses messages that gRPC itself compressed with %s', async (name, algorithm) => {
    const node = await startTestNode();
    const options = {
      'grpc.default_compression_algorithm': algorithm,
      'grpc.use_local_subchannel_pool': 1,
    };
    const client = new Client(node.address, credentials.createInsecure(), options);
    const { Name } = SUT_METHODS;
    const named = await new Promise((resolve) =>
      client.makeUnaryRequest(
        Name.path,
        Name.requestSerialize,
        Name.responseDeserialize,
        { nonce: 1 },
        resolve,
      ),
    );
    const refusal = {
      code: status.INVALID_ARGUMENT,
      details: expect.stringContaining(`grpc-encoding: ${name}`),
    };
    expect(named).toMatchObject(refusal);
    const { path, requestSerialize, responseDeserialize } = INFER_METHOD;
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    stream.on('error', () => {});
    const ended = new Promise((resolve) => stream.on('status', resolve));
    stream.resume();
    stream.write(Buffer.alloc(1_000));
    expect(await ended).toMatchObject(refusal);
    client.close();
    expect(await ask(node.address, 'Name', { nonce: 5 })).toMatchObject({ nonce: 5 });
  });
});

describe('the QDL', () => {
  const lz4 = codecNamed('lz4');

  async function open(payloads: SamplePayloads, more: Partial<DispatchSettings>) {
    const [node] = await fakeSutNodes({ onPart: () => {} });
    return { node, ...(await openQdl([node], more, payloads)) };
  }

  /** Waits until a node has so many samples. */
  async function samplesOf(node: FakeSutNode, count: number): Promise<number[]> {
    while (node.sampleIds.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    return node.sampleIds;
  }

  it('passes on responses decompressed, and broken ones as lost, counting both as sent', async () => {
    const encoding = { form: 'raw', compression: 'identity' };
    const { node, qdl, sink } = await open(
      { encoding, payloadOf: () => Uint8Array.of(1) },
      { responseEncodings: [{ form: 'raw', compression: 'lz4' }], messageBytesMax: 1_000_000 },
    );
    qdl.issueQuery(queryOf(0, 0, [0, 0, 0]));
    const [good, broken, bomb] = (await samplesOf(node, 3)) as [number, number, number];
    node.complete([good], lz4.compress(Uint8Array.of(9, 9, 9)));
    node.complete([broken], Uint8Array.of(1, 2, 3, 4, 5, 6));
    node.complete([bomb], lz4.compress(new Uint8Array(1_000_001)));
    await sink.answered(3);
    expect(sink.completed).toEqual([{ id: 0, payload: Uint8Array.of(9, 9, 9) }]);
    expect(sink.failed.map(({ id, failure }) => [id, failure.code])).toEqual([
      [1, 'bad-response'],
      [2, 'bad-response'],
    ]);
    expect(sink.failed[1]?.failure.text).toContain(node.address);
    expect(sink.failed[1]?.failure.text).toContain('more than 1000000 bytes');
    await qdl.stop();
    expect(qdl.ledgerReport).toEqual({ isCompared: true, differences: [] });
  });

  it('sends a query that was prepared as a whole as it is, and never cuts it', async () => {
    const prepared = [100, 5_000].map((length) => randomBytes(length));
    const { node, qdl, sink } = await open(
      {
        encoding: { form: 'raw', compression: 'identity' },
        payloadOf: (index) => prepared[index] as Uint8Array,
        preparedQueryPayload: (index) => ({
          payload: prepared[index] as Uint8Array,
          sampleBytes: [7_777],
        }),
      },
      { partBytesMax: 4_999 },
    );
    qdl.issueQuery(queryOf(0, 0, [0]));
    qdl.issueQuery(queryOf(1, 1, [1]));
    const [id] = (await samplesOf(node, 1)) as [number];
    expect(node.parts).toEqual([
      {
        query: 0,
        querySampleCount: 1,
        samples: [{ id, payload: Buffer.alloc(0), encoding: 0, offset: 0, total: 0 }],
        queryPayload: prepared[0],
        queryEncoding: 0,
        querySampleBytes: [7_777],
      },
    ]);
    node.complete([id]);
    await sink.answered(2);
    expect(sink.failed.map(({ id, failure }) => [id, failure.code])).toEqual([[1, 'limit']]);
    await qdl.stop();
    expect(qdl.ledgerReport).toEqual({ isCompared: true, differences: [] });
  });
});
