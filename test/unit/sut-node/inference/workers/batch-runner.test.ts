import { describe, expect, it } from 'vitest';
import { codecNamed } from '../../../../../shared/compression/codec.ts';
import {
  BatchRunner,
  type BatchRunnerOptions,
} from '../../../../../sut-node/inference/workers/batch-runner.ts';
import type {
  BatchMessage,
  DoneMessage,
} from '../../../../../sut-node/inference/workers/worker-thread.ts';
import type {
  InputTensor,
  ModelPipeline,
  OutputTensor,
} from '../../../../../sut-node/model/model-facts.ts';
import type { ModelSession } from '../../../../../sut-node/model/onnx/ort-session.ts';

/**
 * Two elements per sample; the response is their sum. A payload that begins with 0 cannot be read.
 */
const SUM_PIPELINE: ModelPipeline = {
  inputs: [{ name: 'x', elementType: 'float', sampleShape: [2] }],
  outputNames: ['sum'],
  forms: ['raw'],
  tensorForms: [],
  checkTensor: () => {},
  preprocess: async (payload, form, [target]) => {
    if (target === undefined) throw new Error('no target');
    target[0] = payload[0] as number;
    if (payload[0] === 0) throw new Error(`not ${form}`);
    target[1] = payload[1] as number;
  },
  postprocess: (outputs, row) => Uint8Array.of(Number(outputs.get('sum')?.data[row])),
  warmUpPayload: () => ({ form: 'raw', payload: Uint8Array.of(1, 1) }),
};

class SumSession implements ModelSession {
  readonly tensors = { inputs: [], outputs: [] };
  readonly dims: (readonly number[])[] = [];
  readonly data: number[][] = [];
  failure: Error | undefined;

  async run([input]: readonly InputTensor[]) {
    if (input === undefined) throw new Error('no input');
    const { dims } = input;
    const data = Array.from(input.data, Number);
    this.dims.push(dims);
    this.data.push(data);
    if (this.failure !== undefined) throw this.failure;
    const sums = Float32Array.from({ length: dims[0] as number }, (_, row) => {
      return (data[2 * row] as number) + (data[2 * row + 1] as number);
    });
    return new Map<string, OutputTensor>([['sum', { data: sums, dims: [sums.length] }]]);
  }
}

function setUp(decodeCount = 1, options: Partial<BatchRunnerOptions> = {}) {
  const session = new SumSession();
  const runner = new BatchRunner({
    pipeline: SUM_PIPELINE,
    session,
    shape: { hasAxis: true, sizeFixed: undefined, freeAxes: 'group' },
    batchSizeMax: 4,
    encodings: [
      { form: 'jpeg', compression: 'identity' },
      { form: 'raw', compression: 'identity' },
      { form: 'raw', compression: 'lz4' },
      { form: 'raw', compression: 'gzip' },
    ],
    sampleBytesMax: 20,
    queryBytesMax: 40,
    responseCompression: 'identity',
    decodeCount,
    ...options,
  });
  return { session, runner };
}

function batchMessage(...payloads: (readonly number[] | Uint8Array)[]): BatchMessage {
  let end = 0;
  let begin = 0;
  return {
    kind: 'batch',
    takesTokens: false,
    // Longer than the payloads: buffers are used again.
    payloads: Uint8Array.from([...payloads.flatMap((bytes) => [...bytes]), 99, 99]).buffer,
    begins: Float64Array.from(payloads, (payload) => {
      begin += payload.length;
      return begin - payload.length;
    }),
    ends: Float64Array.from(payloads, (payload) => {
      end += payload.length;
      return end;
    }),
    forms: new Uint8Array(payloads.length).fill(1),
  };
}

function responsesOf(done: DoneMessage): number[][] {
  const bytes = [...new Uint8Array(done.responses)];
  return [...done.ends].map((end, row) => bytes.slice(row === 0 ? 0 : done.ends[row - 1], end));
}

// Goal: each row gets the response of its own payload, and one bad sample harms no other.
// Method: a model that sums, a fake session.
describe('BatchRunner', () => {
  it.each([1, 3])('answers each sample of a batch with %i decoded at a time', async (lanes) => {
    const { runner, session } = setUp(lanes);
    const done = await runner.run(batchMessage([1, 2], [3, 4], [5, 6]));
    expect(responsesOf(done)).toEqual([[3], [7], [11]]);
    expect(session.dims).toEqual([[3, 2]]);
    expect(done.badSamples).toEqual([]);
  });

  it('tells which sample cannot be read, and keeps its remains from the model', async () => {
    const { runner, session } = setUp();
    await runner.run(batchMessage([9, 9], [9, 9]));
    const done = await runner.run(batchMessage([1, 2], [0, 8], [5, 6]));
    expect(done.badSamples).toEqual([{ row: 1, text: 'not raw' }]);
    expect(responsesOf(done)).toEqual([[3], [], [11]]);
    expect(session.data[1]).toEqual([1, 2, 0, 0, 5, 6]);
  });

  it('does not run the model when no sample can be read', async () => {
    const { runner, session } = setUp();
    const done = await runner.run(batchMessage([0, 1], [0, 2]));
    expect(done.badSamples).toHaveLength(2);
    expect(session.dims).toEqual([]);
    expect(done.failure).toBeUndefined();
  });

  it('tells why the model failed', async () => {
    const { runner, session } = setUp();
    session.failure = new Error('out of memory\nstack');
    const done = await runner.run(batchMessage([1, 2]));
    expect(done.failure).toEqual({ text: 'out of memory', rows: [0] });
    expect(responsesOf(done)).toEqual([[]]);
  });

  it('tells which samples have a form that the pre-processor does not read', async () => {
    const { runner } = setUp();
    const done = await runner.run({ ...batchMessage([1, 2], [3, 4]), forms: Uint8Array.of(0, 1) });
    expect(responsesOf(done)).toEqual([[], [7]]);
    expect(done.badSamples).toEqual([
      { row: 0, text: expect.stringContaining('no payload of the form "jpeg"; it reads: raw') },
    ]);
  });

  it('tells lengths of time without a gap between beginning and end', async () => {
    const { runner } = setUp();
    const done = await runner.run(batchMessage([1, 2]));
    const { beganAtNs, preprocessNs, computeNs, postprocessNs, endedAtNs } = done;
    expect(beganAtNs + preprocessNs + computeNs + postprocessNs).toBe(endedAtNs);
  });

  it.each([
    ['lz4', 2],
    ['gzip', 3],
  ])('takes samples out of %s, and fails only those that are broken', async (name, form) => {
    const { runner } = setUp();
    const { compress } = codecNamed(name);
    const good = compress(Uint8Array.of(3, 4));
    const bomb = compress(new Uint8Array(1_000_000));
    const batch = batchMessage(good, good.subarray(1), bomb, good);
    const done = await runner.run({ ...batch, forms: new Uint8Array(4).fill(form) });
    expect(responsesOf(done)).toEqual([[7], [], [], [7]]);
    expect(done.badSamples.map(({ row }) => row)).toEqual([1, 2]);
    expect(done.badSamples[1]?.text).toBe(
      `a payload that should be ${name} holds more than 20 bytes, the limit here`,
    );
  });

  it('cuts the samples of a query out of what its payload holds', async () => {
    const { runner } = setUp();
    const whole = codecNamed('lz4').compress(Uint8Array.of(1, 2, 3, 4, 5, 6));
    const batch = batchMessage([9, 9], whole);
    const done = await runner.run({
      ...batch,
      begins: Float64Array.of(0, 2, 2, 2),
      ends: Float64Array.of(2, 2 + whole.length, 2 + whole.length, 2 + whole.length),
      forms: Uint8Array.of(1, 2, 2, 2),
      slices: [
        undefined,
        { begin: 0, end: 2, total: 6 },
        { begin: 2, end: 4, total: 6 },
        { begin: 4, end: 6, total: 7 },
      ],
    });
    expect(responsesOf(done)).toEqual([[18], [3], [7], []]);
    expect(done.badSamples).toEqual([
      { row: 3, text: 'the payload of the query holds 6 bytes; its samples have 7' },
    ]);
  });

  it('bounds what a query holds that is compressed as a whole', async () => {
    const { runner } = setUp();
    const whole = codecNamed('lz4').compress(new Uint8Array(41));
    const done = await runner.run({
      ...batchMessage(whole),
      begins: Float64Array.of(0, 0),
      ends: Float64Array.of(whole.length, whole.length),
      forms: Uint8Array.of(2, 2),
      slices: [
        { begin: 0, end: 2, total: 41 },
        { begin: 2, end: 41, total: 41 },
      ],
    });
    expect(done.badSamples.map(({ row }) => row)).toEqual([0, 1]);
    for (const { text } of done.badSamples) expect(text).toContain('more than 40 bytes');
  });

  it('compresses every response with the codec of the node', async () => {
    const { runner } = setUp(1, { responseCompression: 'lz4' });
    const done = await runner.run(batchMessage([1, 2], [3, 4]));
    const responses = responsesOf(done).map((bytes) => Uint8Array.from(bytes));
    expect(responses.map((bytes) => [...codecNamed('lz4').decompress(bytes, 9)])).toEqual([
      [3],
      [7],
    ]);
  });

  it('warms up with one sample and with a full batch', async () => {
    const { runner, session } = setUp();
    await runner.warmUp();
    expect(session.dims).toEqual([
      [1, 2],
      [4, 2],
    ]);
  });
});
