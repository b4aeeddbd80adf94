import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { WakingClock } from '../../../../../loadgen-node/loadgen/engine/waking-clock.ts';

// Goal: planned calls come once, in order, never early, whatever their distance, and also without
// the thread. Method: the real clock and its thread; nothing is said about how late a call may be.

const MS = 1e6;

/** Plans a call that far from now; resolves with the time by which it came late, in ns. */
function lateness(clock: WakingClock, inNs: number): Promise<number> {
  return new Promise((resolve) => {
    const atNs = clock.nowNs() + inNs;
    clock.callAt(atNs, () => resolve(clock.nowNs() - atNs));
  });
}

describe('WakingClock', () => {
  it('calls at the instant or after it, however far away that is', async () => {
    const clock = new WakingClock();
    const late = await Promise.all(
      [-5, 0, 0.01, 0.3, 1, 1.5, 4, 25, 60].map((ms) => lateness(clock, ms * MS)),
    );
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    clock.close();
  });

  it('calls in the order of the instants, not of the planning', async () => {
    const clock = new WakingClock();
    const inOrder = async (): Promise<number[]> => {
      const order: number[] = [];
      const nowNs = clock.nowNs();
      const calls = [30, 10, 20].map(
        (ms) =>
          new Promise<void>((resolve) => {
            clock.callAt(nowNs + ms * MS, () => {
              order.push(ms);
              resolve();
            });
          }),
      );
      await Promise.all(calls);
      return order;
    };
    // A turn of the event loop that comes late finds several calls due, whose order is then open:
    // tried until none came late.
    await expect.poll(inOrder, { interval: 1, timeout: 30_000 }).toEqual([10, 20, 30]);
    clock.close();
  });

  it('does not call what was cancelled', async () => {
    const clock = new WakingClock();
    const nowNs = clock.nowNs();
    const calls: string[] = [];
    const near = clock.callAt(nowNs + 3 * MS, () => calls.push('near'));
    const far = clock.callAt(nowNs + 30 * MS, () => calls.push('far'));
    near.cancel();
    far.cancel();
    await lateness(clock, 40 * MS);
    expect(calls).toEqual([]);
    clock.close();
  });

  it('still calls when its thread is gone', async () => {
    const clock = new WakingClock();
    const waiting = lateness(clock, 8 * MS);
    clock.close();
    expect(await waiting).toBeGreaterThanOrEqual(0);
    expect(await lateness(clock, 2 * MS)).toBeGreaterThanOrEqual(0);
  });

  it("loads nothing of the user's --import in its thread", () => {
    const loaded = `import { isMainThread } from 'node:worker_threads'; console.log(isMainThread);`;
    const module = new URL(
      '../../../../../dist/loadgen-node/loadgen/engine/waking-clock.js',
      import.meta.url,
    );
    const program = `
      const { WakingClock } = await import('${module}');
      const clock = new WakingClock();
      await new Promise((resolve) => clock.callAt(clock.nowNs() + 200e6, resolve));
      clock.close();`;
    const flag = `--import=data:text/javascript,${encodeURIComponent(loaded)}`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, NODE_OPTIONS: flag },
      encoding: 'utf8',
    });
    expect(output).toBe('true\n');
  });
});
