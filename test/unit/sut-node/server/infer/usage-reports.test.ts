import { describe, expect, it } from 'vitest';
import { USAGE_FEATURE } from '../../../../../shared/wire/sut-contract.ts';
import { UsageReports } from '../../../../../sut-node/server/infer/usage-reports.ts';
import { ManualClock } from '../../../../scenes/clock.ts';
import { InferStreamScene, partSample } from '../../../../scenes/sut-node/infer-stream-scene.ts';

// Goal: a stream that asks for it is told once a second what the node uses, and no other; never
// while it is full or at its end. Method: a stream without a network; a clock that the test moves.

const SECOND_NS = 1e9;

function usagesOf(scene: InferStreamScene) {
  return scene.controls.flatMap(({ usage }) => usage ?? []);
}

describe('a stream', () => {
  it('tells once a second what the node uses, where that was asked for', () => {
    const scene = new InferStreamScene();
    scene.open({ features: [USAGE_FEATURE] });
    expect(scene.controls[0]?.opened?.features).toEqual([USAGE_FEATURE]);
    scene.clock.advance(2.5 * SECOND_NS);
    const told = { intervalNs: 1e9, cpuNs: 5e8, residentBytes: 4096 };
    expect(usagesOf(scene)).toMatchObject([told, told]);
    expect(usagesOf(scene)[0]?.machineBusyNs).toBeUndefined();
    scene.usage = { ...told, machineBusyNs: 7 };
    scene.clock.advance(SECOND_NS);
    expect(usagesOf(scene)[2]).toMatchObject({ machineBusyNs: 7 });
  });

  it('tells nothing where it was not asked for, and where nothing is known', () => {
    const unasked = new InferStreamScene();
    unasked.open();
    unasked.clock.advance(3 * SECOND_NS);
    expect(usagesOf(unasked)).toEqual([]);
    const unknown = new InferStreamScene();
    unknown.usage = undefined;
    unknown.open({ features: [USAGE_FEATURE] });
    unknown.clock.advance(3 * SECOND_NS);
    expect(usagesOf(unknown)).toEqual([]);
  });

  it('tells nothing while it is full, after Close, and when it has ended', () => {
    const scene = new InferStreamScene();
    scene.takesMore = false;
    scene.open({ features: [USAGE_FEATURE] });
    scene.clock.advance(2 * SECOND_NS);
    expect(usagesOf(scene)).toEqual([]);
    scene.takesMore = true;
    scene.stream.drained();
    scene.clock.advance(SECOND_NS);
    expect(usagesOf(scene)).toHaveLength(1);
    scene.part([partSample(0)]);
    scene.close();
    scene.clock.advance(2 * SECOND_NS);
    scene.answer();
    expect(scene.endedCount).toBe(1);
    scene.clock.advance(2 * SECOND_NS);
    expect(usagesOf(scene)).toHaveLength(1);
  });
});

it('measures while somebody listens, and at no other time', () => {
  const clock = new ManualClock();
  let meters = 0;
  let reads = 0;
  const read = () => {
    reads += 1;
    return { intervalNs: 1e9, cpuNs: 1, residentBytes: 1 };
  };
  const openMeter = () => {
    meters += 1;
    return { read };
  };
  const reports = new UsageReports(clock, () => [], openMeter);
  clock.advance(5 * SECOND_NS);
  const seen = [0, 0];
  const first = reports.listen(() => (seen[0] = (seen[0] ?? 0) + 1));
  const second = reports.listen(() => (seen[1] = (seen[1] ?? 0) + 1));
  clock.advance(2 * SECOND_NS);
  first();
  clock.advance(SECOND_NS);
  second();
  clock.advance(5 * SECOND_NS);
  expect({ meters, reads, seen }).toEqual({ meters: 1, reads: 3, seen: [2, 3] });
  reports.listen(() => {});
  clock.advance(SECOND_NS);
  expect({ meters, reads }).toEqual({ meters: 2, reads: 4 });
});
