import { expect, it } from 'vitest';
import type { WaitingSample } from '../../../../../sut-node/inference/batcher/sut-model.ts';
import { OutgoingResponses } from '../../../../../sut-node/server/infer/outgoing-responses.ts';

// Goal: tokens that wait for a slow peer cost about their own bytes. Method: steps whose memory is
// overwritten at once.

/** A sample that waits for its answer. */
function sampleOf(id: number): WaitingSample {
  const owner = { answer: () => {}, firstTokens: () => {}, takesTokens: true, tokens: () => {} };
  const times = { arrivedAtNs: 0, queuedAtNs: 0 };
  return { id, pieces: [], bytes: 0, form: 0, slice: undefined, owner, ...times };
}

it('joins held tokens by sample, and keeps nothing of the steps that they came from', () => {
  const outgoing = new OutgoingResponses();
  const samples = [sampleOf(0), sampleOf(1)];
  const steps = 1_000;
  for (let step = 0; step < steps; step += 1) {
    const memory = Int32Array.of(step, -step);
    const bytes = new Uint8Array(memory.buffer);
    outgoing.holdTokens(
      samples.map((sample, i) => ({ sample, payload: bytes.subarray(4 * i, 4 * i + 4) })),
    );
    memory.fill(99);
  }
  expect(outgoing.next()).toBeUndefined();
  outgoing.release();
  const { tokens = [] } = outgoing.next() ?? {};
  const expected = Int32Array.from({ length: steps }, (_, step) => step);
  expect(tokens.map(({ sample }) => sample)).toEqual(samples);
  for (const [i, { payload }] of tokens.entries()) {
    const own = new Int32Array(payload.slice().buffer);
    expect(own).toEqual(i === 0 ? expected : expected.map((value) => -value));
    expect(payload.buffer.byteLength).toBeLessThanOrEqual(2 * payload.length);
  }
});

it('drops the held tokens of a sample whose answer comes', () => {
  const outgoing = new OutgoingResponses();
  const sample = sampleOf(0);
  outgoing.holdTokens([{ sample, payload: Uint8Array.of(1) }]);
  outgoing.addAnswers([
    { sample, payload: Uint8Array.of(1, 2), fault: undefined, times: undefined },
  ]);
  outgoing.release();
  expect(outgoing.next()?.answers).toHaveLength(1);
  expect(outgoing.next()).toBeUndefined();
});
