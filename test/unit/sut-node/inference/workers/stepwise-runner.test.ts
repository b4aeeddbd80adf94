import { describe, expect, it } from 'vitest';
import { readInPlace } from '../../../../../shared/base/bytes/borrowed-bytes.ts';
import { StepwiseRunner } from '../../../../../sut-node/inference/workers/stepwise-runner.ts';
import type {
  BatchMessage,
  DoneMessage,
} from '../../../../../sut-node/inference/workers/worker-thread.ts';
import type { StepwisePipeline } from '../../../../../sut-node/model/model-facts.ts';
import type { ModelSession } from '../../../../../sut-node/model/onnx/ort-session.ts';

// Goal: a pipeline that runs the model by itself answers each sample of a batch with its own
// response, a bad sample costs no other one its response, and all time of a batch is counted once.
// Method: a pipeline that runs the model once per byte of a payload, a session that adds 1.

const session: ModelSession = {
  tensors: { inputs: [], outputs: [] },
  run: async ([input]) => {
    if (input?.data[0] === 200) throw new Error('the model broke');
    return new Map([['y', { data: Float32Array.of(Number(input?.data[0]) + 1), dims: [1] }]]);
  },
};

const pipeline: StepwisePipeline = {
  forms: ['raw'],
  answer: async (samples, run) => {
    const answers: (Uint8Array | Error)[] = [];
    for (const { payload } of samples) {
      const sums: number[] = [];
      for (const byte of readInPlace(payload)) {
        const input = { name: 'x', elementType: 'float', data: Float32Array.of(byte), dims: [1] };
        const outputs = await run([input], ['y']);
        sums.push(Number(outputs.get('y')?.data[0]));
      }
      answers.push(sums.length === 0 ? new Error('no byte') : Uint8Array.from(sums));
    }
    return answers;
  },
  warmUpPayload: () => ({ form: 'raw', payload: Uint8Array.of(1) }),
};

const runner = (more: Partial<StepwisePipeline> = {}) =>
  new StepwiseRunner({
    pipeline: { ...pipeline, ...more },
    session,
    encodings: [
      { form: 'raw', compression: 'identity' },
      { form: 'jpeg', compression: 'identity' },
    ],
    sampleBytesMax: 100,
    queryBytesMax: 100,
    responseCompression: 'identity',
  });

function batchOf(
  samples: readonly (readonly number[])[],
  forms = samples.map(() => 0),
): BatchMessage {
  const ends = Float64Array.from(samples, (_, i) => samples.slice(0, i + 1).flat().length);
  return {
    kind: 'batch',
    takesTokens: false,
    payloads: Uint8Array.from(samples.flat()).buffer,
    begins: Float64Array.from(ends, (end, i) => end - (samples[i]?.length ?? 0)),
    ends,
    forms: Uint8Array.from(forms),
  };
}

const responsesOf = ({ responses, ends }: DoneMessage) =>
  Array.from(ends, (end, i) => [...new Uint8Array(responses).slice(ends[i - 1] ?? 0, end)]);

describe('StepwiseRunner', () => {
  it('answers every sample with its own response', async () => {
    const done = await runner().run(batchOf([[1, 2, 3], [7], [9, 9]]));
    expect(responsesOf(done)).toEqual([[2, 3, 4], [8], [10, 10]]);
    expect(done).toMatchObject({ badSamples: [], failure: undefined });
    const { preprocessNs, computeNs, postprocessNs, beganAtNs, endedAtNs } = done;
    expect(preprocessNs + computeNs + postprocessNs).toBe(endedAtNs - beganAtNs);
  });

  it('names a bad sample, and answers the others', async () => {
    const done = await runner().run(batchOf([[1], [], [2], [3]], [0, 0, 1, 0]));
    expect(responsesOf(done)).toEqual([[2], [], [], [4]]);
    expect(done.badSamples).toEqual([
      { row: 2, text: expect.stringMatching(/no payload of the form "jpeg"/) },
      { row: 1, text: 'no byte' },
    ]);
  });

  it('says which samples have no response when the model fails, or the pipeline leaves one out', async () => {
    const broken = await runner().run(batchOf([[1], [200]]));
    expect(broken.failure).toEqual({ text: 'the model broke', rows: [0, 1] });
    const short = await runner({ answer: async () => [Uint8Array.of(1)] }).run(batchOf([[1], [2]]));
    expect(short.badSamples).toEqual([{ row: 1, text: 'the pipeline gave no response' }]);
  });

  it('fails a warm-up whose sample gets no response', async () => {
    await runner().warmUp();
    const refusing = runner({ answer: async () => [new Error('no window fits')] });
    await expect(refusing.warmUp()).rejects.toThrow('no window fits');
  });
});
