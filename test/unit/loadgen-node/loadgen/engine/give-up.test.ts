import { expect, it, vi } from 'vitest';
import type { ResponseSink } from '../../../../../shared/domain/system-under-test.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';

// Goal: a SUT drops what it still has of a set with lost samples, and only then. Method: one lost
// sample, or none.

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

// A node that lags does not break the contract: a sample that LoadGen gave up may still be
// answered, once; one that was answered may not.
it.each([
  { lateId: 20, times: 1, contractErrors: 0, lateResponses: 1 },
  { lateId: 20, times: 2, contractErrors: 2, lateResponses: 1 },
  { lateId: 4, times: 1, contractErrors: 2, lateResponses: 0 },
  { lateId: 90, times: 1, contractErrors: 2, lateResponses: 0 },
])(
  'an answer and a first token of $lateId, told $times times behind the stall at 20, are $contractErrors errors',
  async ({ lateId, times, contractErrors, lateResponses }) => {
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
      for (let i = 0; i < times; i += 1) {
        told?.firstToken(lateId, nothing, told.nowNs());
        told?.complete(lateId, nothing, 1, told.nowNs());
      }
    };
    const judge = vi.fn(async () => ({ problems: [], notes: [], details: [] }));
    const { performance } = await test.run({ observer: { keepRecords, judge } });
    expect(performance?.counts).toMatchObject({ lostSamples: 1, contractErrors });
    expect(judge).toHaveBeenCalledWith(expect.objectContaining({ lateResponses }));
  },
);

// The SUT says that it waits no more: so its nodes answer late where it gave up, and wrongly where
// it said that all is over.
it.each([
  { isGivenUp: true, contractErrors: 0, lateResponses: 1 },
  { isGivenUp: false, contractErrors: 1, lateResponses: 0 },
])(
  'in a set that goes on, an answer to a sample that failed with isGivenUp $isGivenUp is $contractErrors errors',
  async ({ isGivenUp, contractErrors, lateResponses }) => {
    const nothing = new Uint8Array(0);
    const test = simulatedTest(
      { scenario: 'SingleStream', minDurationMs: 100, minQueryCount: 100 },
      {
        answer: (sink, id, atNs) => {
          const failure = { code: 'lost', text: 'lost' };
          if (id === 20) sink.fail(id, isGivenUp ? { ...failure, isGivenUp } : failure);
          else sink.complete(id, nothing, 0, atNs);
          if (id === 21) sink.complete(20, nothing, 0, atNs);
        },
      },
    );
    const judge = vi.fn(async () => ({ problems: [], notes: [], details: [] }));
    const { performance } = await test.run({ observer: { judge } });
    expect(performance?.counts).toMatchObject({ lostSamples: 1, contractErrors });
    expect(judge).toHaveBeenCalledWith(expect.objectContaining({ lateResponses }));
  },
);
