import { describe, expect, it } from 'vitest';
import type { BorrowedBytes } from '../../../../../shared/base/bytes/borrowed-bytes.ts';
import { BatchRunner } from '../../../../../sut-node/inference/workers/batch-runner.ts';
import type {
  BatchMessage,
  DoneMessage,
} from '../../../../../sut-node/inference/workers/worker-thread.ts';
import type {
  InputTensor,
  ModelPipeline,
  ModelTensor,
  ModelUsage,
  OutputTensor,
} from '../../../../../sut-node/model/model-facts.ts';
import type { ModelSession } from '../../../../../sut-node/model/onnx/ort-session.ts';
import { batchShapeOf } from '../../../../../sut-node/pipeline/model-fit.ts';
import { openPipeline } from '../../../../../sut-node/pipeline/open-pipeline.ts';

// Goal: payloads that are tensors reach the model byte for byte, with as many rows as it wants, and
// each sample gets its own row back. Method: a session that keeps what it is given and answers with
// each row's sum.

interface SeenInput {
  readonly dims: readonly number[];
  readonly data: readonly number[];
  readonly buffer: ArrayBufferLike;
}

class SumSession implements ModelSession {
  readonly tensors = { inputs: [], outputs: [] };
  /** Inputs per inference. */
  readonly seen: SeenInput[][] = [];
  /** Rows that an inference answers beyond those that it got. */
  extraRows = 0;
  /** Index of the inference that fails. */
  failing = -1;

  async run(inputs: readonly InputTensor[]) {
    this.seen.push(
      inputs.map(({ dims, data }) => ({
        dims,
        data: Array.from(data, Number),
        buffer: data.buffer,
      })),
    );
    if (this.seen.length - 1 === this.failing) throw new Error('no memory');
    const [{ dims, data }] = inputs as [InputTensor];
    const rowCount = this.hasAxis ? (dims[0] as number) : 1;
    const size = data.length / rowCount;
    const sums = Float32Array.from({ length: rowCount + this.extraRows }, (_, row) =>
      Array.from(data.subarray(row * size, (row + 1) * size), Number).reduce((a, b) => a + b, 0),
    );
    return new Map<string, OutputTensor>([
      ['sum', { data: sums, dims: this.hasAxis ? [sums.length] : [] }],
    ]);
  }

  readonly hasAxis: boolean;
  constructor(hasAxis: boolean) {
    this.hasAxis = hasAxis;
  }
}

const float = (...shape: number[]): ModelTensor => ({ name: 'x', elementType: 'float', shape });

function setUp(
  inputs: readonly ModelTensor[],
  usage: ModelUsage = {},
  lengthOf?: ModelPipeline['lengthOf'],
) {
  const model = {
    file: 'm.onnx',
    inputs,
    outputs: [{ name: 'sum', elementType: 'float', shape: [-1] }],
  };
  const shape = batchShapeOf(model, usage);
  const session = new SumSession(shape.hasAxis);
  const runner = new BatchRunner({
    pipeline: { ...openPipeline(model, usage), ...(lengthOf && { lengthOf }) },
    session,
    shape,
    batchSizeMax: 4,
    encodings: [
      { form: 'raw', compression: 'identity' },
      { form: 'jpeg', compression: 'identity' },
    ],
    sampleBytesMax: 1_000,
    queryBytesMax: 1_000,
    responseCompression: 'identity',
    decodeCount: 1,
  });
  return { session, runner };
}

function floats(...values: number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}

/**
 * Payloads one behind the other, after `gap` bytes that belong to nobody, in a buffer that is
 * longer.
 */
function batchOf(payloads: readonly Uint8Array[], gap = 0): BatchMessage {
  let position = gap;
  const begins = payloads.map((payload) => {
    position += payload.length;
    return position - payload.length;
  });
  const bytes = new Uint8Array(position + 64);
  for (const [i, payload] of payloads.entries()) bytes.set(payload, begins[i]);
  return {
    kind: 'batch',
    takesTokens: false,
    payloads: bytes.buffer,
    begins: Float64Array.from(begins),
    ends: Float64Array.from(payloads, (payload, i) => (begins[i] as number) + payload.length),
    forms: new Uint8Array(payloads.length),
  };
}

/** The sum that each row was answered with; undefined where it has no response. */
function sumsOf(done: DoneMessage): (number | undefined)[] {
  const view = new DataView(done.responses);
  return Array.from(done.ends, (end, row) => {
    const begin = row === 0 ? 0 : (done.ends[row - 1] as number);
    return end === begin ? undefined : view.getFloat32(begin, true);
  });
}

describe('BatchRunner with payloads that are tensors', () => {
  it('runs the model on the buffer in which the payloads came, without a copy', async () => {
    const { runner, session } = setUp([float(-1, 2)]);
    const batch = batchOf([floats(1, 2), floats(3, 4), floats(5, 6)]);
    expect(sumsOf(await runner.run(batch))).toEqual([3, 7, 11]);
    expect(session.seen).toMatchObject([[{ dims: [3, 2], data: [1, 2, 3, 4, 5, 6] }]]);
    expect(session.seen[0]?.[0]?.buffer).toBe(batch.payloads);
  });

  it('copies payloads that lie where no tensor can begin', async () => {
    const { runner, session } = setUp([float(-1, 2)]);
    const batch = batchOf([floats(1, 2), floats(3, 4)], 3);
    expect(sumsOf(await runner.run(batch))).toEqual([3, 7]);
    expect(session.seen[0]?.[0]?.buffer).not.toBe(batch.payloads);
  });

  it.each([
    ['a byte too many', Uint8Array.of(...floats(1, 2), 0), 'has 8 bytes; this payload has 9'],
    ['no byte', new Uint8Array(0), 'has 8 bytes; this payload has 0'],
    ['NaN', floats(1, Number.NaN), 'element 1 of input "x" is NaN or infinite'],
    ['infinity', floats(Number.NEGATIVE_INFINITY, 1), 'element 0 of input "x" is NaN or infinite'],
  ])('fails only the sample with %s', async (_case, payload, text) => {
    const { runner, session } = setUp([float(-1, 2)]);
    const done = await runner.run(batchOf([floats(1, 2), payload, floats(5, 6)]));
    expect(sumsOf(done)).toEqual([3, undefined, 11]);
    expect(done.badSamples).toEqual([{ row: 1, text: expect.stringContaining(text) }]);
    expect(session.seen).toMatchObject([[{ dims: [3, 2], data: [1, 2, 0, 0, 5, 6] }]]);
  });

  it('takes the payload of several inputs apart, in the order of the description', async () => {
    const mask: ModelTensor = { name: 'mask', elementType: 'uint8', shape: [-1, 3] };
    const usage = { inputs: [{ name: 'x' }, { name: 'mask' }] };
    const { runner, session } = setUp([mask, float(-1, 2)], usage);
    const payloads = [
      Uint8Array.of(...floats(1, 2), 7, 8, 9),
      Uint8Array.of(...floats(3, 4), 4, 5, 6),
    ];
    expect(sumsOf(await runner.run(batchOf(payloads)))).toEqual([3, 7]);
    expect(session.seen).toMatchObject([
      [
        { dims: [2, 2], data: [1, 2, 3, 4] },
        { dims: [2, 3], data: [7, 8, 9, 4, 5, 6] },
      ],
    ]);
  });

  it.each([0, -1])('feeds an input without an element, whose axis is %i', async (axis) => {
    const past: ModelTensor = { name: 'past', elementType: 'float', shape: [-1, axis] };
    const { runner, session } = setUp([past, float(-1, 2)]);
    expect(sumsOf(await runner.run(batchOf([floats(1, 2), floats(3, 4)])))).toEqual([0, 0]);
    expect(session.seen).toMatchObject([
      [
        { dims: [2, 0], data: [] },
        { dims: [2, 2], data: [1, 2, 3, 4] },
      ],
    ]);
  });

  it('fills batches of a fixed size up with zeros and answers the samples only', async () => {
    const { runner, session } = setUp([float(3, 2)]);
    expect(sumsOf(await runner.run(batchOf([floats(9, 9), floats(9, 9), floats(9, 9)])))).toEqual([
      18, 18, 18,
    ]);
    const done = await runner.run(batchOf([1, 2, 3, 4].map((value) => floats(value, value))));
    expect(sumsOf(done)).toEqual([2, 4, 6, 8]);
    expect(session.seen.slice(1)).toMatchObject([
      [{ dims: [3, 2], data: [1, 1, 2, 2, 3, 3] }],
      [{ dims: [3, 2], data: [4, 4, 0, 0, 0, 0] }],
    ]);
  });

  it('runs a model without a batch axis once per sample', async () => {
    const { runner, session } = setUp([float(2)], { batchAxis: 'none' });
    expect(sumsOf(await runner.run(batchOf([floats(1, 2), floats(3, 4)])))).toEqual([3, 7]);
    expect(session.seen).toMatchObject([
      [{ dims: [2], data: [1, 2] }],
      [{ dims: [2], data: [3, 4] }],
    ]);
  });

  it('runs samples of different lengths apart', async () => {
    const { runner, session } = setUp([float(-1, -1, 2)]);
    const payloads = [floats(1, 2), floats(3, 4, 5, 6), floats(7, 8), floats(1, 2, 3)];
    const done = await runner.run(batchOf(payloads));
    expect(sumsOf(done)).toEqual([3, 18, 15, undefined]);
    expect(done.badSamples).toEqual([
      {
        row: 3,
        text: expect.stringContaining('8 bytes with n = 1, 16 with n = 2; this payload has 12'),
      },
    ]);
    expect(session.seen).toMatchObject([
      [{ dims: [2, 1, 2], data: [1, 2, 7, 8] }],
      [{ dims: [1, 2, 2], data: [3, 4, 5, 6] }],
    ]);
  });

  it('pads samples of different lengths with zeros where the description says so', async () => {
    const { runner, session } = setUp([float(-1, -1, -1)], { freeAxes: 'pad' });
    const done = await runner.run(batchOf([floats(1), floats(2, 3, 4, 5)]));
    expect(sumsOf(done)).toEqual([1, 14]);
    expect(session.seen).toMatchObject([[{ dims: [2, 2, 2], data: [1, 0, 0, 0, 2, 3, 4, 5] }]]);
  });

  it('fails the samples for whose tensors there is no memory, and lives on', async () => {
    // The longer one has 2^52 bytes; nothing is padded to that length.
    const lengthOf = ({ length }: BorrowedBytes): number => (length === 8 ? 2 ** 50 : 1);
    const { runner } = setUp([float(-1, -1)], { freeAxes: 'pad' }, lengthOf);
    const done = await runner.run(batchOf([floats(1), floats(1, 2)]));
    expect(done.failure).toMatchObject({ rows: [1] });
    expect(sumsOf(done)).toEqual([1, undefined]);
    expect(sumsOf(await runner.run(batchOf([floats(3)])))).toEqual([3]);
  });

  it('fails only the samples of the inference that failed', async () => {
    const { runner, session } = setUp([float(-1, -1)]);
    session.failing = 0;
    const done = await runner.run(batchOf([floats(1), floats(1, 2), floats(3)]));
    expect(sumsOf(done)).toEqual([undefined, 3, undefined]);
    expect(done.failure).toEqual({ text: 'no memory', rows: [0, 2] });
  });

  it('fails the samples when the model answers with another number of rows', async () => {
    const { runner, session } = setUp([float(-1, 2)]);
    session.extraRows = 1;
    const done = await runner.run(batchOf([floats(1, 2), floats(3, 4)]));
    expect(done.failure?.text).toContain(
      'has the shape [3], whose first axis is not the batch of 2',
    );
    expect(sumsOf(done)).toEqual([undefined, undefined]);
  });

  it('says on what the model failed when it warms up', async () => {
    const { runner, session } = setUp([float(-1, -1)]);
    session.failing = 0;
    await expect(runner.warmUp()).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringMatching(
        /does not run on x \[1, 8\]: no memory; if it needs other lengths/,
      ),
    });
  });

  it('warms up in the size that the model has', async () => {
    const { runner, session } = setUp([float(3, -1)]);
    await runner.warmUp();
    expect(session.seen.map(([input]) => input?.dims)).toEqual([[3, 8]]);
  });
});
