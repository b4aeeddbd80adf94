import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import type { ModelInferRequest } from '../../../proto/gen/inference/ModelInferRequest.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { encodeJpeg } from '../../../shared/benchmarks/image/jpeg.ts';
import { GraphBuilder } from '../../../sut-node/model/onnx/graph-builder.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { echo, echoNode, OipTestClient, rawRequest } from '../../scenes/oip-server/oip-client.ts';
import { askReflection, wholeSample } from '../../scenes/sut-node/sut-client.ts';
import {
  digit,
  NO_DELAY,
  openStream,
  RAW_OPEN,
  startTestNode,
} from '../../scenes/sut-node/sut-node.ts';

// Goal: any client of the Open Inference Protocol gets from a node what one of longhaul's own gets,
// or a status that says what is wrong. Method: real nodes and workers, a client made of the .proto
// file by grpc-js.

const UINT8_DIGIT = { datatype: 'UINT8', shape: [1, 48, 48, 3] };

function digits(indices: readonly number[], rest: ModelInferRequest = {}): ModelInferRequest {
  const raw = Buffer.concat(indices.map((index) => digit(index).rgb));
  return rawRequest('digits', { datatype: 'UINT8', shape: [indices.length, 48, 48, 3], raw }, rest);
}

/** delay with one token each ms; `count` of them. */
const tokenNode = (counts: number) =>
  startTestNode({
    benchmark: 'delay',
    delay: {
      ...NO_DELAY,
      tokens: { kind: 'fixed', count: counts },
      firstTokenNs: 5e6,
      tokenNs: 1e6,
      concurrency: 64,
    },
  });

/** Two inputs of different types and free length, two outputs of which one is small. */
function twoInputModel(): string {
  const graph = new GraphBuilder('two');
  const a = graph.input('a', 'float', ['N', 3]);
  const b = graph.input('b', 'float', ['N', 3]);
  graph.output(graph.operator('Sub', [a, b], {}, 'difference'), 'float', ['N', 3]);
  graph.output(graph.operator('Abs', [a], {}, 'absolute'), 'float', ['N', 3]);
  return writeModel(graph.build('two inputs'));
}

function writeModel(model: Uint8Array, description = ''): string {
  const folder = tempFolder();
  writeFileSync(join(folder, 'net.onnx'), model);
  writeFileSync(join(folder, 'net.yaml'), `model: net.onnx\nname: net\n${description}`);
  return join(folder, 'net.yaml');
}

const floats = (...values: number[]): Buffer => Buffer.from(Float32Array.from(values).buffer);
const floatsOf = (bytes: Uint8Array | undefined): number[] => [
  ...new Float32Array(Uint8Array.from(bytes ?? []).buffer),
];

describe('a SUT node asked by the Open Inference Protocol', () => {
  it('tells what it is, answers raw, typed and JPEG digits alike, and counts', async () => {
    const node = await startTestNode();
    const client = new OipTestClient(node.address);
    expect(await client.ask('ServerLive')).toEqual({ live: true });
    expect(await client.ask('ServerReady')).toEqual({ ready: true });
    expect(await client.ask('ModelReady', { name: 'digits', version: '1' })).toEqual({
      ready: true,
    });
    await expect(client.ask('ModelReady', { name: 'mnist' })).rejects.toMatchObject({
      code: status.NOT_FOUND,
      details: expect.stringMatching(/no model "mnist"; it serves "longhaul-digits-example"/),
    });
    await expect(client.ask('ModelConfig', { name: 'digits', version: '2' })).rejects.toMatchObject(
      {
        details: expect.stringMatching(/no version "2"; it has "1"/),
      },
    );
    expect(await client.ask('ServerMetadata')).toEqual({
      name: node.name,
      version: packageVersion(),
      extensions: ['model_configuration', 'statistics'],
    });
    const metadata = await client.ask('ModelMetadata', { name: 'digits' });
    expect(metadata).toMatchObject({
      versions: ['1'],
      platform: 'onnxruntime_onnx',
      inputs: [{ name: 'input', datatype: 'UINT8', shape: [-1, 48, 48, 3] }],
      outputs: [{ name: 'output', datatype: 'INT32', shape: [-1, 1] }],
      properties: {
        benchmark: 'digits',
        input_encodings: 'UINT8 [48, 48, 3] is raw; BYTES [1] is jpeg',
      },
    });
    const name = String(metadata['name']);
    expect(await client.ask('ModelConfig', { name })).toMatchObject({
      config: { name, maxBatchSize: 8, modelTransactionPolicy: { decoupled: false } },
    });
    expect(await client.ask('RepositoryIndex', { ready: true })).toEqual({
      models: [{ name, version: '1', state: 'READY', reason: '' }],
    });

    const indices = [0, 1, 2, 3, 4];
    const labels = indices.map((index) => digit(index).label);
    const raw = await client.infer(digits(indices, { id: 'one', modelVersion: '1' }));
    expect(raw).toMatchObject({
      modelName: name,
      modelVersion: '1',
      id: 'one',
      outputs: [{ name: 'output', datatype: 'INT32', shape: [5, 1] }],
    });
    const bytes = Buffer.concat(raw.rawOutputContents);
    expect(indices.map((i) => bytes.readInt32LE(i * 4))).toEqual(labels);

    const typed = await client.infer({
      modelName: name,
      inputs: [{ name: 'input', ...UINT8_DIGIT, contents: { uintContents: [...digit(3).rgb] } }],
    });
    expect(typed.rawOutputContents[0]?.readInt32LE()).toBe(labels[3]);

    const element = (jpeg: Uint8Array): Buffer => {
      const head = Buffer.alloc(4);
      head.writeUInt32LE(jpeg.length);
      return Buffer.concat([head, jpeg]);
    };
    const size = { width: 48, height: 48 };
    const files = await Promise.all([0, 1].map((i) => encodeJpeg(digit(i).rgb, size, 95)));
    const ofFiles = await client.infer(
      rawRequest('digits', {
        datatype: 'BYTES',
        shape: [2, 1],
        raw: Buffer.concat(files.map(element)),
      }),
    );
    expect([0, 4].map((at) => ofFiles.rawOutputContents[0]?.readInt32LE(at))).toEqual(
      labels.slice(0, 2),
    );

    const { modelStats } = await client.ask<{ modelStats: Record<string, never>[] }>(
      'ModelStatistics',
      {},
    );
    const [stats] = modelStats as unknown as {
      inferenceCount: number;
      executionCount: number;
      inferenceStats: Record<string, { count: number; ns: number }>;
    }[];
    expect(stats?.inferenceCount).toBe(8);
    expect(stats?.executionCount).toBeGreaterThanOrEqual(3);
    expect(stats?.inferenceStats['success']?.count).toBe(3);
    expect(stats?.inferenceStats['fail']?.count).toBe(0);
    const ns = (phase: string): number => stats?.inferenceStats[phase]?.ns ?? Number.NaN;
    for (const phase of ['queue', 'computeInput', 'computeInfer', 'computeOutput']) {
      expect(ns(phase)).toBeGreaterThan(0);
    }
    expect(ns('queue') + ns('computeInput') + ns('computeInfer')).toBeLessThan(ns('success'));
  });

  it('batches its samples with those of the native protocol', async () => {
    const node = await startTestNode({ batchDelayUsMax: 20_000_000, batchSizeMax: 4 });
    const client = new OipTestClient(node.address);
    const native = await openStream(node, RAW_OPEN);
    const two = client.infer(digits([1, 2]));
    native.part(0, [wholeSample(0, digit(3).rgb), wholeSample(1, digit(4).rgb)]);
    const answer = await two;
    await native.answered(2);
    const labels = [1, 2].map((index) => digit(index).label);
    expect([0, 4].map((at) => answer.rawOutputContents[0]?.readInt32LE(at))).toEqual(labels);
    // One batch of four: alone, each would have waited for the delay, and for nobody.
    for (const { durations } of native.completed) {
      expect(durations?.queueNs).toBeLessThan(19e9);
    }
  });

  it('takes inputs of a custom model in any order, and cuts its outputs', async () => {
    const node = await startTestNode({ benchmark: 'custom', model: twoInputModel() });
    const client = new OipTestClient(node.address);
    expect(await client.ask('ModelMetadata', { name: 'net' })).toMatchObject({
      inputs: [
        { name: 'a', datatype: 'FP32', shape: [-1, 3] },
        { name: 'b', datatype: 'FP32', shape: [-1, 3] },
      ],
      outputs: [{ name: 'difference' }, { name: 'absolute' }],
    });
    const a = floats(1, -2, 3, 4, 5, -6);
    const b = floats(1, 1, 1, 2, 2, 2);
    const inputs = [
      { name: 'b', datatype: 'FP32', shape: [2, 3] },
      { name: 'a', datatype: 'FP32', shape: [2, 3] },
    ];
    const all = await client.infer({ modelName: 'net', inputs, rawInputContents: [b, a] });
    expect(all.outputs.map(({ name, shape }) => [name, shape])).toEqual([
      ['difference', [2, 3]],
      ['absolute', [2, 3]],
    ]);
    expect(all.rawOutputContents.map(floatsOf)).toEqual([
      [0, -3, 2, 2, 3, -8],
      [1, 2, 3, 4, 5, 6],
    ]);
    const one = await client.infer({
      modelName: 'custom',
      inputs: inputs.map((input, i) => ({
        ...input,
        contents: { fp32Contents: floatsOf([b, a][i]) },
      })),
      outputs: [{ name: 'absolute' }],
    });
    expect(one.outputs.map(({ name }) => name)).toEqual(['absolute']);
    expect(floatsOf(one.rawOutputContents[0])).toEqual([1, 2, 3, 4, 5, 6]);
    const missing = await client.refusal({
      modelName: 'net',
      inputs: inputs.slice(0, 1),
      rawInputContents: [b],
    });
    expect(missing).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(missing.details).toMatch(/input "a" is missing: "a" as FP32 \[-1, 3\]/);
    const nan = await client.refusal({
      modelName: 'net',
      inputs,
      rawInputContents: [b, floats(1, Number.NaN, 3, 4, 5, 6)],
    });
    expect(nan).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(nan.details).toMatch(/sample 0 of the request: .*NaN/);
  });

  it('derives the length of an output’s only free axis, and serves a model without a batch axis', async () => {
    const graph = new GraphBuilder('free');
    const x = graph.input('x', 'float', ['L', 2]);
    graph.output(graph.operator('Abs', [x], {}, 'y'), 'float', ['L', 2]);
    const model = writeModel(graph.build('free'), 'batchAxis: none\n');
    const node = await startTestNode({ benchmark: 'custom', model });
    const client = new OipTestClient(node.address);
    expect(await client.ask('ModelConfig', { name: 'net' })).toMatchObject({
      config: { maxBatchSize: 0 },
    });
    const answer = await client.infer({
      modelName: 'net',
      inputs: [{ name: 'x', datatype: 'FP32', shape: [3, 2] }],
      rawInputContents: [floats(-1, -2, -3, -4, -5, -6)],
    });
    expect(answer.outputs[0]?.shape).toEqual([3, 2]);
    expect(floatsOf(answer.rawOutputContents[0])).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('says in words what it cannot answer by this protocol', async () => {
    const graph = new GraphBuilder('free');
    const x = graph.input('x', 'float', ['N', 'L', 'M']);
    graph.output(graph.operator('Abs', [x], {}, 'y'), 'float', ['N', 'L', 'M']);
    const node = await startTestNode({
      benchmark: 'custom',
      model: writeModel(graph.build('free')),
    });
    const refusal = await new OipTestClient(node.address).refusal({ modelName: 'net' });
    expect(refusal).toMatchObject({ code: status.FAILED_PRECONDITION });
    expect(refusal.details).toMatch(/2 free axes.*y \[-1, -1\]/);
  });

  it('answers requests on a stream as they finish, bad ones too, and ends behind the last', async () => {
    const node = await echoNode();
    const stream = new OipTestClient(node.address).stream();
    for (let i = 0; i < 200; i += 1) stream.send(echo(Buffer.from(`payload ${i}`), { id: `${i}` }));
    stream.send(echo(Buffer.from('x'), { id: 'bad', modelName: 'nobody' }));
    stream.halfClose();
    expect(await stream.ended).toMatchObject({ code: status.OK });
    expect(stream.answers).toHaveLength(201);
    const bad = stream.answers.filter(({ errorMessage }) => errorMessage !== '');
    expect(bad.map(({ inferResponse }) => inferResponse?.id)).toEqual(['bad']);
    expect(bad[0]?.errorMessage).toMatch(/no model "nobody"; it serves "echo"/);
    for (const { inferResponse, errorMessage } of stream.answers) {
      if (errorMessage !== '') continue;
      expect(String(inferResponse?.rawOutputContents[0])).toBe(`payload ${inferResponse?.id}`);
      expect(inferResponse?.parameters['triton_final_response']).toMatchObject({ boolParam: true });
    }
  });

  it('sends the first token of a sample before the rest, on a stream', async () => {
    const node = await tokenNode(4);
    const client = new OipTestClient(node.address);
    expect(await client.ask('ModelConfig', { name: 'delay' })).toMatchObject({
      config: { modelTransactionPolicy: { decoupled: true } },
    });
    const request = rawRequest('delay', { datatype: 'UINT8', shape: [1, 3], raw: Buffer.alloc(3) });
    const stream = client.stream();
    stream.send({ ...request, id: 'a' });
    const [first, last] = await stream.received(2);
    stream.halfClose();
    await stream.ended;
    expect(first?.inferResponse).toMatchObject({
      id: 'a',
      outputs: [{ name: 'output', datatype: 'INT64', shape: [1, 1] }],
    });
    expect(first?.inferResponse?.parameters['triton_final_response']?.boolParam).toBe(false);
    // Responses of the first one do not come again.
    expect(last?.inferResponse?.outputs[0]?.shape).toEqual([1, 3]);
    expect(last?.inferResponse?.parameters['triton_final_response']?.boolParam).toBe(true);
    expect(last?.inferResponse?.parameters['token_count']).toMatchObject({ int64Param: 4 });
    const tokens = [first, last].flatMap((one) => one?.inferResponse?.rawOutputContents ?? []);
    expect(stream.answers).toHaveLength(2);
    const whole = await client.infer(request);
    expect(whole.outputs[0]?.shape).toEqual([1, 4]);
    expect(whole.rawOutputContents).toEqual([Buffer.concat(tokens)]);
  });

  it('shows the standard’s names by reflection', async () => {
    const node = await echoNode();
    const question = { file_containing_symbol: 'inference.ModelInferRequest' };
    const { answers } = await askReflection(node.address, [{ list_services: '' }, question]);
    const names = answers[0]?.list_services_response?.service.map(({ name }) => name);
    expect(names).toContain('inference.GRPCInferenceService');
    expect(answers[1]?.file_descriptor_response).toBeTruthy();
  });
});
