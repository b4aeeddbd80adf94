import { expect, it, onTestFinished } from 'vitest';
import { oipPlan, openOipQdl } from '../../scenes/oip-server/oip-qdl.ts';
import {
  SplitAnswerServer,
  type SplitAnswers,
} from '../../scenes/oip-server/split-answer-server.ts';
import { queryOf } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: answers are told apart whatever packets they come in: each call has its own answer and its own status. Method: a server
// whose heads and trailers are two or three bytes each, one behind the other or in packets of their own; every sample is
// compared with what the server did with it. Read buffers are overwritten (CONTRIBUTING.md): a view of one that was kept
// shows here.

const QUERIES = 120;
/** Calls at once. */
const WIDTH = 6;

const CASES: readonly SplitAnswers[] = (['one', 'two', 'three'] as const).flatMap((packets) =>
  ([2, 3] as const).flatMap((headBytes) =>
    [0, 2, 3].map((failEvery) => ({ packets, headBytes, failEvery })),
  ),
);

it.each<SplitAnswers>([
  ...CASES,
  // More than a read takes: the trailers come when the buffer was read into again.
  { packets: 'two', headBytes: 2, failEvery: 2, moreBytes: 300_000 },
])('tells answers of %o apart', async (answers) => {
  const server = await SplitAnswerServer.start(answers);
  onTestFinished(() => server.stop());
  const { qdl, sink } = await openOipQdl([server], oipPlan('unary'));
  onTestFinished(() => qdl.stop());
  for (let begin = 0; begin < QUERIES; begin += WIDTH) {
    for (let id = begin; id < begin + WIDTH; id += 1) qdl.issueQuery(queryOf(id, id, [id]));
    await sink.answered(begin + WIDTH);
  }
  const failed = sink.failed.map(({ id }) => id);
  const completed = sink.completed.map(({ id, payload }) => [id, ...floats(payload)]);
  expect(failed.toSorted((a, b) => a - b)).toEqual(server.failedInputs.toSorted((a, b) => a - b));
  expect(server.inferCount).toBe(QUERIES);
  expect(failed.length + completed.length).toBe(QUERIES);
  for (const { failure } of sink.failed) {
    expect(failure).toMatchObject({ code: 'inference', text: expect.stringContaining('broken') });
  }
  for (const [id = 0, index, square] of completed) {
    expect([index, square]).toEqual([id, id * id]);
  }
});

function floats(payload: Uint8Array): number[] {
  return [...new Float32Array(payload.slice().buffer)];
}
