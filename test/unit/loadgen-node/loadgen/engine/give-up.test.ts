import { expect, it, vi } from 'vitest';
import type { ResponseSink } from '../../../../../shared/domain/system-under-test.ts';
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

// A node that lags does not break the contract: a sample that LoadGen gave up may still be answered; one that was answered may not.
it.each([
  { lateId: 20, contractErrors: 0 },
  { lateId: 4, contractErrors: 2 },
])(
  'an answer and a first token of $lateId behind the stall at 20 are $contractErrors errors',
  async ({ lateId, contractErrors }) => {
    const nothing = new Uint8Array(0);
    let told: ResponseSink | undefined;
    const test = simulatedTest(
      { scenario: 'SingleStream', minDurationMs: 100, minQueryCount: 100 },
      {
        answer: (sink, id, atNs) => {
          told = sink;
          if (id !== 20) sink.complete(id, nothing, 0, atNs);
        },
      },
    );
    const keepRecords = async (): Promise<void> => {
      told?.firstToken(lateId, nothing, told.nowNs());
      told?.complete(lateId, nothing, 1, told.nowNs());
    };
    const { performance } = await test.run({ observer: { keepRecords } });
    expect(performance?.counts).toMatchObject({ lostSamples: 1, contractErrors });
  },
);
