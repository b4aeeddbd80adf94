import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  createEchoModel,
  createNullModel,
} from '../../../../../sut-node/inference/built-in/immediate-model.ts';
import { ManualClock } from '../../../../scenes/clock.ts';
import { RecordingOwner, waitingSample } from '../../../../scenes/simulated-run/sut-parts.ts';

// Goal: the node without a model answers in the next turn of the event loop, whatever came in this
// one. Method: batches of two owners, and a look before and after the turn.

function setUp() {
  const clock = new ManualClock();
  const [a, b] = [new RecordingOwner(), new RecordingOwner()];
  const batchOf = (owners: readonly RecordingOwner[], firstId: number) => ({
    samples: owners.map((owner, i) => waitingSample(firstId + i, { owner })),
    takenAtNs: clock.nowNs(),
  });
  return { model: createNullModel(clock, 3), a, b, batchOf };
}

describe('the null model', () => {
  it('always has room', () => {
    const { model } = setUp();
    expect([model.hasIdle, model.hasRoom]).toEqual([true, true]);
  });

  it('answers all batches of one turn together, each owner once', async () => {
    const { model, a, b, batchOf } = setUp();
    model.run(batchOf([a, b], 0));
    model.run(batchOf([a], 2));
    expect([a.calls, b.calls]).toEqual([[], []]);
    await nextTurn();
    expect([a.calls, b.calls]).toEqual([[[0, 2]], [[1]]]);
  });

  it('answers what comes later in a turn of its own', async () => {
    const { model, a, batchOf } = setUp();
    model.run(batchOf([a], 0));
    await nextTurn();
    model.run(batchOf([a], 1));
    await nextTurn();
    expect(a.calls).toEqual([[0], [1]]);
  });

  it('answers with so many bytes and no time of inference', async () => {
    const { model, a, batchOf } = setUp();
    const batch = batchOf([a], 0);
    model.run(batch);
    await nextTurn();
    const { takenAtNs } = batch;
    const noTime = { takenAtNs, preprocessNs: 0, computeNs: 0, postprocessNs: 0 };
    expect(a.answers).toMatchObject([
      { payload: new Uint8Array(3), fault: undefined, times: noTime },
    ]);
  });
});

describe('the echo model', () => {
  const echoed = async (pieces: readonly Uint8Array[]) => {
    const clock = new ManualClock();
    const owner = new RecordingOwner();
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const sample = waitingSample(0, { owner, pieces, bytes });
    createEchoModel(clock).run({ samples: [sample], takenAtNs: clock.nowNs() });
    await nextTurn();
    return owner.answers[0]?.payload;
  };

  it('answers with the payload itself, no copy', async () => {
    const piece = Uint8Array.of(1, 2, 3);
    expect(await echoed([piece])).toBe(piece);
  });

  it('joins a payload that came in pieces', async () => {
    expect([...((await echoed([Uint8Array.of(1, 2), Uint8Array.of(3)])) ?? [])]).toEqual([1, 2, 3]);
  });
});
