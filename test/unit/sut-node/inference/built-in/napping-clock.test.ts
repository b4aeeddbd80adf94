import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NappingClock } from '../../../../../sut-node/inference/built-in/napping-clock.ts';

// Goal: calls never come early, soon after they are due, and leave the core in between. Method:
// time passes only where the thread sleeps, a fifth longer than it is asked to, or where the clock
// is looked at, which takes 1 µs.

function setUp() {
  let nowNs = 0;
  const sleptNs: number[] = [];
  const clock = new NappingClock({
    nowNs: () => {
      nowNs += 1_000;
      return nowNs;
    },
    sleep: (ns) => {
      sleptNs.push(ns);
      nowNs += ns * 1.2;
    },
  });
  const calls: number[] = [];
  const callAt = (atNs: number) => clock.callAt(atNs, () => calls.push(nowNs));
  return { callAt, calls, sleptNs, now: () => nowNs };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

describe('NappingClock', () => {
  it('calls when a call is due, not before, and not inside callAt', async () => {
    const { callAt, calls } = setUp();
    callAt(1_000_000);
    expect(calls).toEqual([]);
    await turns(200);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toBeGreaterThanOrEqual(1_000_000);
    expect(calls[0]).toBeLessThan(1_050_000);
  });

  it('sleeps nearly all of the time, and lets I/O through every 0.2 ms', async () => {
    const { callAt, calls, sleptNs } = setUp();
    callAt(2_000_000);
    await turns(200);
    expect(Math.max(...sleptNs)).toBeLessThanOrEqual(200_000);
    expect(sleptNs.reduce((sum, ns) => sum + ns * 1.2, 0)).toBeGreaterThan(0.9 * (calls[0] ?? 0));
  });

  it('lets what is due soon after a call come together 0.2 ms later', async () => {
    const { callAt, calls, now } = setUp();
    callAt(0);
    await turns(5);
    const first = calls[0] as number;
    callAt(now() + 1_000);
    await turns(200);
    expect((calls[1] as number) - first).toBeGreaterThanOrEqual(200_000);
    expect((calls[1] as number) - first).toBeLessThan(250_000);
  });

  it('makes no call that was cancelled', async () => {
    const { callAt, calls } = setUp();
    callAt(500_000).cancel();
    callAt(10_000_000_000).cancel();
    await turns(50);
    expect(calls).toEqual([]);
  });
});
