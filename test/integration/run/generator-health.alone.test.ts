import { describe, expect, it } from 'vitest';
import { processMonitor } from '../../../loadgen-node/observe/health/process-monitor.ts';

// Goal: the monitor sees of its own process what happens there. Method: a blocked event loop,
// garbage, and a second that passes.

const BLOCKED_MS = 60;

/** Holds the thread and leaves garbage, so that the collector has to pause it. */
function blockAndLitter(): number {
  const endMs = performance.now() + BLOCKED_MS;
  let sum = 0;
  while (performance.now() < endMs) sum += Array.from({ length: 1_000 }, (_, i) => [i]).length;
  return sum;
}

describe('processMonitor', () => {
  it('sees CPU time, a blocked loop, garbage collection and back-pressure, second by second', async () => {
    let socketNs = 7;
    const end = processMonitor(() => ({ socketNs, creditNs: 0 }))();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(blockAndLitter()).toBeGreaterThan(0);
    socketNs += 100;
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    const health = end();
    expect(health.seconds.length).toBeGreaterThanOrEqual(2);
    const [first, ...rest] = health.seconds;
    expect(first?.eventLoopDelayMaxNs).toBeGreaterThan((BLOCKED_MS - 10) * 1e6);
    expect(first?.gcNs).toBeGreaterThan(0);
    expect(first?.cpuShare).toBeGreaterThan(0.01);
    expect(rest.at(-1)?.atNs).toBeGreaterThan(first?.atNs ?? 0);
    expect(health.eventLoopDelay.maxNs).toBeGreaterThanOrEqual(first?.eventLoopDelayMaxNs ?? 0);
    expect(health.gc.count).toBeGreaterThan(0);
    expect(health.gc.totalNs).toBeGreaterThanOrEqual(health.gc.maxNs);
    expect(health.backPressure).toEqual({ socketNs: 100, creditNs: 0 });
    expect(health.cpuShare).toBeGreaterThan(0);
    expect(health.cpuShare).toBeLessThan(1.5);
  });

  it('begins anew with each set', () => {
    const begin = processMonitor(null);
    begin()();
    const health = begin()();
    expect(health.seconds).toHaveLength(1);
    expect(health.backPressure).toBeNull();
  });
});
