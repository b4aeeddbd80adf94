import { expect, it, vi } from 'vitest';
import { MemoryQsl } from '../../../../scenes/simulated-run/memory-qsl.ts';
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

// A node that lags does not break the contract: a sample that LoadGen gave up may still be answered.
it.each([
  { lostId: 3, contractErrors: 0 },
  { lostId: -1, contractErrors: 2 },
])(
  'an answer and its token behind a set that lost $lostId are $contractErrors errors',
  async ({ lostId, contractErrors }) => {
    const nothing = new Uint8Array(0);
    const test = simulatedTest(
      { scenario: 'SingleStream', mode: 'AccuracyOnly' },
      {
        answer: (sink, id, atNs) => {
          if (id === lostId) sink.fail(id, { code: 'bad-sample', text: 'lost' });
          else sink.complete(id, nothing, 0, atNs);
          if (id !== 8) return;
          sink.firstToken(3, nothing, atNs);
          sink.complete(3, nothing, 1, atNs);
        },
      },
      new MemoryQsl(20, 8),
    );
    const outcome = await test.run();
    expect(outcome.accuracy?.counts.contractErrors).toBe(contractErrors);
  },
);
