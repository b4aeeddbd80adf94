import { describe, expect, it } from 'vitest';
import { benchmarkRules } from '../../../../shared/benchmarks/benchmark-rules.ts';
import type { OutputTensor, SutBenchmark } from '../../../../sut-node/benchmarks/sut-benchmark.ts';
import { BatchRunner } from '../../../../sut-node/workers/batch-runner.ts';
import type { ModelSession } from '../../../../sut-node/workers/ort-session.ts';
import type { BatchMessage, DoneMessage } from '../../../../sut-node/workers/worker-messages.ts';

/** Two elements per sample; the response is their sum. A payload that begins with 0 cannot be read. */
const SUM_BENCHMARK: SutBenchmark = {
  rules: benchmarkRules('digits'),
  modelName: 'sum',
  input: { name: 'x', sampleShape: [2] },
  outputNames: ['sum'],
  prepareModel: async () => 'sum.onnx',
  preprocess: async (payload, form, target) => {
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

  async run(data: Float32Array, dims: readonly number[]) {
    this.dims.push(dims);
    this.data.push([...data]);
    if (this.failure !== undefined) throw this.failure;
    const sums = Float32Array.from({ length: dims[0] as number }, (_, row) => {
      return (data[2 * row] as number) + (data[2 * row + 1] as number);
    });
    return new Map<string, OutputTensor>([['sum', { data: sums, dims: [sums.length] }]]);
  }
}

function setUp(decodeCount = 1) {
  const session = new SumSession();
  const runner = new BatchRunner({
    benchmark: SUM_BENCHMARK,
    session,
    batchSizeMax: 4,
    forms: ['jpeg', 'raw'],
    decodeCount,
  });
  return { session, runner };
}

function batchMessage(...payloads: number[][]): BatchMessage {
  let end = 0;
  return {
    kind: 'batch',
    // Longer than the payloads: buffers are used again.
    payloads: Uint8Array.from([...payloads.flat(), 99, 99]).buffer,
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
    expect(done.failure).toBe('out of memory');
    expect(responsesOf(done)).toEqual([[]]);
  });

  it('tells lengths of time without a gap between beginning and end', async () => {
    const { runner } = setUp();
    const done = await runner.run(batchMessage([1, 2]));
    const { beganAtNs, preprocessNs, computeNs, postprocessNs, endedAtNs } = done;
    expect(beganAtNs + preprocessNs + computeNs + postprocessNs).toBe(endedAtNs);
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
