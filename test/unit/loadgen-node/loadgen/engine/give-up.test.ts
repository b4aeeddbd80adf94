import { expect, it, vi } from 'vitest';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';

// Goal: a SUT drops what it still has of a set with lost samples, and only then. Method: one lost sample, or none.

it.each([
  { lostId: 20, calls: 1 },
  { lostId: -1, calls: 0 },
])('a SUT that lost sample $lostId is told to give up $calls times', async ({ lostId, calls }) => {
  const giveUp = vi.fn();
  const test = simulatedTest(
    { scenario: 'SingleStream', minDurationMs: 100, minQueryCount: 100 },
    {
      answer: (sink, id, atNs) => {
        if (id === lostId) sink.fail(id, { code: 'bad-sample', text: 'lost' });
        else sink.complete(id, new Uint8Array(0), 0, atNs);
      },
    },
  );
  await test.run({ sut: Object.assign(test.sut, { giveUp }) });
  expect(giveUp).toHaveBeenCalledTimes(calls);
});
