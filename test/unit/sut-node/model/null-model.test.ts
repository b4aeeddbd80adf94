import { describe, expect, it } from 'vitest';
import { NullModel } from '../../../../sut-node/model/null-model.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingOwner, waitingSample } from '../../../support/waiting-samples.ts';

// Goal: the node without a model answers inside the call. Method: one batch of two owners.
describe('NullModel', () => {
  it('always has room', () => {
    const model = new NullModel(new ManualClock(), 4);
    expect([model.hasIdle, model.hasRoom]).toEqual([true, true]);
  });

  it('answers each sample of a batch at once, with so many bytes and no time of inference', () => {
    const clock = new ManualClock();
    const [a, b] = [new RecordingOwner(), new RecordingOwner()];
    const samples = [a, b, a].map((owner, id) => waitingSample(id, { owner }));
    const takenAtNs = clock.nowNs();
    new NullModel(clock, 3).run({ samples, takenAtNs });
    expect([a.calls, b.calls]).toEqual([[[0, 2]], [[1]]]);
    for (const { payload, fault, times } of [...a.answers, ...b.answers]) {
      expect(payload).toEqual(new Uint8Array(3));
      expect(fault).toBeUndefined();
      expect(times).toMatchObject({ takenAtNs, preprocessNs: 0, computeNs: 0, postprocessNs: 0 });
    }
  });
});
