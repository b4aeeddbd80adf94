import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { JPEG_QUALITY } from '../../../shared/benchmarks/digits/digit-sets.ts';
import { encodeJpeg } from '../../../shared/benchmarks/image/jpeg.ts';
import { IMAGE_SIZE } from '../../../shared/rules/cards/digits.ts';
import { encodeModel, GraphBuilder } from '../../../sut-node/model/onnx/graph-builder.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { SutNodeProcess } from '../../scenes/host/processes.ts';
import { HAS_OPENSSL, TestCertificates } from '../../scenes/sut-node/certificates.ts';
import { digit } from '../../scenes/sut-node/sut-node.ts';
import { makeTritonClient, tritonClientObstacle } from './python.ts';
import { type TritonAnswer, type TritonStep, tritonClient } from './triton-client.ts';

// Goal: people drive our SUT node with the client that they have. Method: NVIDIA's tritonclient,
// from its source, against nodes that are processes of their own.
const WHY_NOT = tritonClientObstacle();
if (WHY_NOT !== undefined) console.log(`tritonclient is skipped: ${WHY_NOT}`);

/** The protocol's datatypes, ONNX's numbers for them, and two values per sample. */
const TYPES = [
  ['FP32', 1, [1.5, -2]],
  ['FP64', 11, [1e300, -2]],
  ['FP16', 10, [1.5, -2]],
  ['INT8', 3, [127, -128]],
  ['INT16', 5, [32767, -32768]],
  ['INT32', 6, [2147483647, -5]],
  ['INT64', 7, [4503599627370497, -5]],
  ['UINT8', 2, [255, 0]],
  ['UINT16', 4, [65535, 1]],
  ['UINT32', 12, [4294967295, 1]],
  ['UINT64', 13, [4503599627370497, 1]],
  ['BOOL', 9, [1, 0]],
] as const;

/** A model that gives back what it gets, an output per input of each of these types. */
function mirrorOf(folder: string, name: string, types: readonly (typeof TYPES)[number][]): string {
  const graph = new GraphBuilder('mirror');
  for (const [type] of types) {
    const input = graph.input(`in_${type}`, 'float', ['N', 2]);
    graph.output(graph.operator('Identity', [input], {}, `out_${type}`), 'float', ['N', 2]);
  }
  const model = graph.toModel('a model for a test');
  // The builder knows the types that longhaul's own models have.
  const described = [...model.graph.input, ...model.graph.output].map((one, i) => {
    const [, number] = types[i % types.length] as (typeof TYPES)[number];
    return { ...one, type: { tensor_type: { ...one.type.tensor_type, elem_type: number } } };
  });
  const [input, output] = [described.slice(0, types.length), described.slice(types.length)];
  const bytes = encodeModel({ ...model, graph: { ...model.graph, input, output } });
  writeFileSync(join(folder, `${name}.onnx`), bytes);
  return join(folder, `${name}.onnx`);
}

const TOKEN = 'a-token-of-a-test-that-is-long-enough';

describe.skipIf(WHY_NOT !== undefined)('tritonclient and a SUT node', () => {
  let client: string;
  let folder: string;

  beforeAll(() => {
    client = makeTritonClient(suiteFolder());
    folder = suiteFolder();
  });

  const start = async (model: string, ...args: string[]): Promise<SutNodeProcess> => {
    const node = await SutNodeProcess.start('sut-a', args);
    onTestFinished(async () => void (await node.stop()));
    await ready(node, model);
    return node;
  };
  /** A node listens before its model is loaded. */
  const ready = async ({ address }: SutNodeProcess, model: string): Promise<void> => {
    expect(await tritonClient(client, address, [{ call: 'await', model }])).toEqual([
      { value: true },
    ]);
  };

  describe('of the digits benchmark', () => {
    let node: SutNodeProcess;
    beforeAll(async () => {
      if (WHY_NOT !== undefined) return;
      node = await SutNodeProcess.start('sut-a', ['--batch-delay-us-max', '2000']);
      await ready(node, 'digits');
    });
    afterAll(async () => void (await node?.stop()));

    const ask = (...steps: TritonStep[]): Promise<readonly TritonAnswer[]> =>
      tritonClient(client, node.address, steps);
    const image = (indices: readonly number[]) => ({
      name: 'input',
      datatype: 'UINT8',
      shape: [indices.length, IMAGE_SIZE, IMAGE_SIZE, 3],
      values: indices.flatMap((index) => [...digit(index).rgb]),
    });
    const labels = (indices: readonly number[]): number[] =>
      indices.map((index) => digit(index).label);

    it('is live and ready, and tells what it has', async () => {
      const [live, ready, model, other, server, metadata, config, index] = await ask(
        { call: 'live' },
        { call: 'ready' },
        { call: 'model-ready', model: 'digits' },
        { call: 'model-ready', model: 'nothing' },
        { call: 'server' },
        { call: 'metadata', model: 'digits' },
        { call: 'config', model: 'digits' },
        { call: 'index' },
      );
      expect([live, ready, model].map((one) => one?.value)).toEqual([true, true, true]);
      expect(other?.error?.status).toBe('StatusCode.NOT_FOUND');
      expect(server?.value).toMatchObject({
        name: expect.stringContaining('sut-a'),
        extensions: expect.arrayContaining(['statistics']),
      });
      expect(metadata?.value).toMatchObject({
        versions: ['1'],
        inputs: [
          {
            name: 'input',
            datatype: 'UINT8',
            shape: ['-1', `${IMAGE_SIZE}`, `${IMAGE_SIZE}`, '3'],
          },
        ],
        outputs: [{ datatype: 'INT32', shape: ['-1', '1'] }],
      });
      expect(config?.value.config.max_batch_size).toBeGreaterThan(0);
      expect(index?.value.models).toMatchObject([
        { name: metadata?.value.name, version: '1', state: 'READY' },
      ]);
    });

    it('answers raw images, one and many, JPEG files and a stream, each rightly', async () => {
      const some = [3, 4, 5, 6, 7];
      const files = await Promise.all(
        some.map(async (index) => {
          const size = { width: IMAGE_SIZE, height: IMAGE_SIZE };
          const file = await encodeJpeg(digit(index).rgb, size, JPEG_QUALITY);
          return Buffer.from(file).toString('base64');
        }),
      );
      const jpeg = {
        ...{ name: 'input', datatype: 'BYTES', shape: [some.length, 1] },
        ...{ values: files, base64: true },
      };
      const one = { model: 'digits', inputs: [image([3])], id: 'a query' };
      const [single, batch, asFiles, stream] = await ask(
        { call: 'infer', ...one },
        { call: 'infer', model: 'digits', inputs: [image(some)] },
        { call: 'infer', model: 'digits', inputs: [jpeg] },
        {
          call: 'stream',
          requests: some.map((index) => ({
            model: 'digits',
            id: `s${index}`,
            inputs: [image([index])],
          })),
          count: some.length,
        },
      );
      expect(single?.value).toMatchObject({ id: 'a query', isRaw: true });
      expect(valuesOf(single)).toEqual(labels([3]));
      expect(valuesOf(batch)).toEqual(labels(some));
      expect(valuesOf(asFiles)).toEqual(labels(some));
      const byId = new Map(
        stream?.value.map((answer: { id: string }) => [answer.id, valuesOf({ value: answer })]),
      );
      expect(some.map((index) => byId.get(`s${index}`))).toEqual(some.map((i) => labels([i])));
      expect(stream?.value.every((answer: { isFinal: boolean }) => answer.isFinal)).toBe(true);
    });

    it('refuses what is wrong by the right code, in words, and goes on', async () => {
      const right = image([1]);
      const wrong: readonly (readonly [string, RegExp, Partial<TritonStep>])[] = [
        ['NOT_FOUND', /nothing/, { model: 'nothing' }],
        ['NOT_FOUND', /99/, { version: '99' }],
        ['INVALID_ARGUMENT', /48/, { inputs: [{ ...right, sayShape: [1, 48, 3, 48] }] }],
        ['INVALID_ARGUMENT', /48/, { inputs: [{ ...right, sayShape: [2, 48, 48, 3] }] }],
        ['INVALID_ARGUMENT', /input/, { inputs: [{ ...right, name: 'picture' }] }],
        ['INVALID_ARGUMENT', /FP32/, { inputs: [{ ...right, datatype: 'FP32' }] }],
        ['INVALID_ARGUMENT', /input/, { inputs: [right, { ...right, name: 'second' }] }],
        ['INVALID_ARGUMENT', /logits/, { outputs: ['logits'] }],
        ['INVALID_ARGUMENT', /class/, { outputs: ['output'], classes: 3 }],
      ];
      const steps = wrong.map(
        ([, , change]): TritonStep => ({
          ...{ call: 'infer', model: 'digits', inputs: [right] },
          ...change,
        }),
      );
      const answers = await ask(...steps, { call: 'infer', model: 'digits', inputs: [right] });
      wrong.forEach(([code, words], i) => {
        expect(answers[i]?.error?.status, `wrong ${i}: ${words}`).toBe(`StatusCode.${code}`);
        expect(answers[i]?.error?.message).toMatch(words);
      });
      expect(valuesOf(answers.at(-1))).toEqual(labels([1]));
    });

    it('keeps a stream open after a wrong request, and ends it by code for who wants that', async () => {
      const right = { model: 'digits', id: 'right', inputs: [image([1])] };
      const wrong = { ...right, id: 'wrong', model: 'nothing' };
      const [goesOn, ends] = await ask(
        { call: 'stream', requests: [wrong, right], count: 2 },
        { call: 'load', model: 'digits' },
      );
      expect(goesOn?.value).toHaveLength(2);
      expect(
        goesOn?.value.map((one: TritonAnswer & { id?: string }) => one.error?.message ?? one.id),
      ).toEqual(expect.arrayContaining(['right', expect.stringContaining('nothing')]));
      expect(ends?.error?.status).toBe('StatusCode.UNIMPLEMENTED');
    });

    it('counts in its statistics what it did', async () => {
      const before = await ask({ call: 'statistics', model: 'digits' });
      const [, after] = await ask(
        { call: 'infer', model: 'digits', inputs: [image([1, 2, 3])] },
        { call: 'statistics', model: 'digits' },
      );
      const counts = (answer?: TritonAnswer) => {
        const [stats] = answer?.value.model_stats ?? [];
        return {
          samples: Number(stats.inference_count),
          requests: Number(stats.inference_stats.success.count),
          batches: Number(stats.execution_count),
          ns: Number(stats.inference_stats.compute_infer.ns),
        };
      };
      const [was, is] = [counts(before[0]), counts(after)];
      expect(is.samples - was.samples).toBe(3);
      expect(is.requests - was.requests).toBe(1);
      expect(is.batches).toBeGreaterThan(was.batches);
      expect(is.ns).toBeGreaterThan(was.ns);
    });

    it('takes back what a client lets go of, and answers the next one', async () => {
      const requests = Array.from({ length: 50 }, (_, i) => ({
        ...{ model: 'digits', id: `${i}`, inputs: [image([i])] },
      }));
      const [, after] = await ask(
        { call: 'stream', requests, count: 1, cancel: true },
        { call: 'infer', model: 'digits', inputs: [image([9])] },
      );
      expect(valuesOf(after)).toEqual(labels([9]));
    });
  });

  it('gives back tensors of every type, raw and typed, several in one request', async () => {
    const node = await start(
      'all',
      '--benchmark',
      'custom',
      '--model',
      mirrorOf(folder, 'all', TYPES),
    );
    const inputs = (types: readonly (typeof TYPES)[number][]) =>
      types.map(([datatype, , values]) => ({
        ...{ name: `in_${datatype}`, datatype, shape: [2, 2], values: [...values, ...values] },
      }));
    const [raw, mixed] = await tritonClient(client, node.address, [
      { call: 'infer', model: 'all', inputs: inputs(TYPES) },
      { call: 'infer', model: 'all', typed: true, inputs: inputs(TYPES.slice(0, 1)) },
    ]);
    expect(raw?.error).toBeUndefined();
    for (const [datatype, , values] of TYPES) {
      const output = raw?.value.outputs[`out_${datatype}`];
      expect(output).toMatchObject({ datatype, shape: [2, 2] });
      expect(output.values.map(Number)).toEqual([...values, ...values]);
    }
    // The other inputs are missing.
    expect(mixed?.error?.status).toBe('StatusCode.INVALID_ARGUMENT');
    const listed = TYPES.filter(([datatype]) => datatype !== 'FP16');
    const typedNode = await start(
      ...['listed', '--benchmark', 'custom', '--model', mirrorOf(folder, 'listed', listed)],
    );
    const [typed] = await tritonClient(client, typedNode.address, [
      { call: 'infer', model: 'listed', typed: true, inputs: inputs(listed) },
    ]);
    expect(typed?.error).toBeUndefined();
    for (const [datatype, , values] of listed) {
      const got = typed?.value.outputs[`out_${datatype}`].values;
      expect(got.map(Number), datatype).toEqual([...values, ...values]);
    }
  });

  it('answers many requests at once, each by its own', async () => {
    const model = mirrorOf(folder, 'floats', TYPES.slice(0, 1));
    const node = await start(
      ...['floats', '--benchmark', 'custom', '--model', model, '--batch-size-max', '16'],
    );
    const input = { name: 'in_FP32', datatype: 'FP32', shape: [1, 2], values: [0, 0] };
    const [many] = await tritonClient(client, node.address, [
      {
        ...{ call: 'many', model: 'floats', inputs: [input], output: 'out_FP32' },
        ...{ count: 1000, factor: 1 },
      },
    ]);
    expect(many?.value).toMatchObject({ right: 1000, errors: 0 });
  });

  it('gets tokens as they come, and the end of them if it asks for it', async () => {
    const delays = ['--delay-tokens', '5', '--delay-first-token', '100ms', '--delay-token', '50ms'];
    const node = await start('delay', '--benchmark', 'delay', ...delays);
    const request = {
      model: 'delay',
      inputs: [{ name: 'input', datatype: 'UINT8', shape: [1, 4], values: [1, 2, 3, 4] }],
    };
    const [metadata, config, unary, stream] = await tritonClient(client, node.address, [
      { call: 'metadata', model: 'delay' },
      { call: 'config', model: 'delay' },
      { call: 'infer', ...request },
      { call: 'stream', requests: [{ ...request, id: 't', wantsFinal: true }], count: 9, waitS: 2 },
    ]);
    expect(metadata?.value.outputs).toMatchObject([{ datatype: 'INT64' }]);
    expect(config?.value.config.model_transaction_policy.decoupled).toBe(true);
    expect(unary?.value ?? unary?.error?.status).toBeDefined();
    const answers = stream?.value as { id: string; isFinal: boolean; atS: number }[];
    expect(answers.every(({ id }) => id === 't')).toBe(true);
    expect(answers.map(({ isFinal }) => isFinal)).toEqual([
      ...answers.slice(1).map(() => false),
      true,
    ]);
    const tokens = answers.flatMap((value) => valuesOf({ value }));
    expect(tokens).toEqual([1000, 1001, 1002, 1003, 1004]);
    // The first token is not held until the last one is there.
    const [first, last] = [answers[0]?.atS ?? 0, answers.at(-1)?.atS ?? 0];
    expect(last - first).toBeGreaterThan(0.15);
  });

  it.skipIf(!HAS_OPENSSL)('shows its certificate where the node wants one', async () => {
    const files = new TestCertificates();
    const { ca, node: own, client: allowed, stranger } = files;
    const tls = ['--tls-cert', own.cert, '--tls-key', own.key, '--tls-client-ca', ca];
    const node = await SutNodeProcess.start('sut-a', ['--benchmark', 'null', ...tls]);
    onTestFinished(async () => void (await node.stop()));
    const address = node.address.replace('127.0.0.1', 'localhost');
    const [live] = await tritonClient(client, address, [
      { call: 'tls', ca, ...allowed },
      { call: 'live' },
    ]);
    expect(live).toEqual({ value: true });
    const [refused] = await tritonClient(client, address, [
      { call: 'tls', ca, ...stranger },
      { call: 'live' },
    ]);
    expect(refused?.error?.status).toBe('StatusCode.UNAVAILABLE');
  });

  it('needs the token of a node that has one', async () => {
    const file = join(folder, 'token');
    writeFileSync(file, `${TOKEN}\n`);
    const node = await SutNodeProcess.start('sut-a', ['--benchmark', 'null', '--token-file', file]);
    onTestFinished(async () => void (await node.stop()));
    const input = { name: 'input', datatype: 'UINT8', shape: [1, 4], values: [1, 2, 3, 4] };
    const one = { call: 'infer', model: 'null', inputs: [input] };
    const authorization = `Bearer ${TOKEN}`;
    const [without, withToken] = await tritonClient(client, node.address, [
      one,
      { ...one, headers: { authorization } },
    ]);
    expect(without?.error?.status).toBe('StatusCode.UNAUTHENTICATED');
    expect(withToken?.error).toBeUndefined();
  });
});

/** Values of the only output. */
function valuesOf(answer: TritonAnswer | undefined): readonly number[] {
  expect(answer?.error).toBeUndefined();
  const outputs = Object.values(answer?.value.outputs) as { values: number[] }[];
  return outputs.flatMap(({ values }) => values);
}
