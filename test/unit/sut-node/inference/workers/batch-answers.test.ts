import { describe, expect, it } from 'vitest';
import { MlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import { FAILURE_CODES } from '../../../../../shared/wire/responses-codec.ts';
import { answerBatch, failBatch } from '../../../../../sut-node/inference/workers/batch-answers.ts';
import type { DoneMessage } from '../../../../../sut-node/inference/workers/worker-thread.ts';
import { RecordingOwner, waitingSample } from '../../../../scenes/simulated-run/sut-parts.ts';

function doneMessage(fields: Partial<DoneMessage> = {}): DoneMessage {
  return {
    kind: 'done',
    payloads: new ArrayBuffer(0),
    responses: Uint8Array.of(10, 11, 12).buffer,
    ends: Float64Array.of(1, 1, 3),
    badSamples: [],
    failure: undefined,
    beganAtNs: 5,
    preprocessNs: 1,
    computeNs: 2,
    postprocessNs: 3,
    endedAtNs: 11,
    ...fields,
  };
}

function setUp() {
  const a = new RecordingOwner();
  const b = new RecordingOwner();
  const samples = [a, b, a].map((owner, i) => waitingSample(i, { owner }));
  return { a, b, batch: { samples, takenAtNs: 4 } };
}

// Goal: each owner gets the answers of its own samples, in one call.
// Method: a batch of two owners.
describe('answerBatch', () => {
  it('cuts the responses of a batch by owner', () => {
    const { a, b, batch } = setUp();
    answerBatch(batch, doneMessage());
    expect(a.calls).toEqual([[0, 2]]);
    expect(b.calls).toEqual([[1]]);
    expect(a.answers.map((answer) => [...answer.payload])).toEqual([[10], [11, 12]]);
    expect(a.answers[0]?.times).toMatchObject({ takenAtNs: 4, beganAtNs: 5, endedAtNs: 11 });
  });

  it('fails the samples that could not be read, and only them', () => {
    const { a, b, batch } = setUp();
    answerBatch(batch, doneMessage({ badSamples: [{ row: 1, text: 'no image' }] }));
    expect(b.answers[0]?.fault).toEqual({ code: FAILURE_CODES['bad-sample'], text: 'no image' });
    expect(a.answers.map((answer) => answer.fault)).toEqual([undefined, undefined]);
  });

  it('fails every sample of an inference that failed', () => {
    const { a, b, batch } = setUp();
    answerBatch(batch, doneMessage({ failure: { text: 'no memory', rows: [0, 1] } }));
    const fault = { code: FAILURE_CODES.inference, text: 'the model failed: no memory' };
    expect(b.answers.map((answer) => answer.fault)).toEqual([fault]);
    expect(a.answers.map((answer) => answer.fault)).toEqual([fault, undefined]);
  });

  it('fails every sample of a worker that ended', () => {
    const { a, batch } = setUp();
    failBatch(batch, new MlperfError('ERR_SUT_WORKER', 'worker 1 ended: crash'));
    expect(a.answers.map((answer) => answer.fault?.code)).toEqual([
      FAILURE_CODES.inference,
      FAILURE_CODES.inference,
    ]);
    expect(a.answers[0]?.fault?.text).toContain('worker 1 ended: crash');
  });
});
