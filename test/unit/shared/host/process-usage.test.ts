import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { UsageMeter } from '../../../../shared/host/process-usage.ts';

// Goal: CPU and memory of this process and of its children are what the system counts. Method: this
// process works for a while; a child does.

/** Keeps a core busy for so many ms of CPU time. */
function work(ms: number): void {
  const begin = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(begin);
    if (user + system >= ms * 1000) return;
  }
}

it('measures CPU time and memory of this process', () => {
  const meter = new UsageMeter();
  const beginMs = performance.now();
  work(60);
  const beforeFirstMs = performance.now();
  const usage = meter.read();
  expect(usage?.cpuNs).toBeGreaterThanOrEqual(60e6);
  // Other threads of the process work, too: 60 ms of CPU time may take less.
  expect(usage?.intervalNs).toBeGreaterThanOrEqual((beforeFirstMs - beginMs) * 1e6);
  expect(usage?.residentBytes).toBeGreaterThan(10e6);
  const { intervalNs = Number.NaN, machineBusyNs } = meter.read() ?? {};
  // From look to look, not from the start.
  expect(intervalNs).toBeLessThan((performance.now() - beforeFirstMs) * 1e6);
  if (machineBusyNs !== undefined) expect(machineBusyNs).toBeGreaterThanOrEqual(0);
});

it.skipIf(!existsSync('/proc/self/stat'))('counts children, also one that has ended', async () => {
  const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const pid = child.pid as number;
  const own = process.memoryUsage.rss();
  const pids: number[] = [];
  const meter = new UsageMeter(() => pids);
  pids.push(pid);
  // Together: on a busy machine no single interval may be long enough.
  let cpuNs = 0;
  const readOn = (): number => {
    cpuNs += meter.read()?.cpuNs ?? 0;
    return cpuNs;
  };
  await expect.poll(readOn).toBeGreaterThan(50e6);
  expect(meter.read()?.residentBytes).toBeGreaterThan(own + 10e6);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('close', resolve));
  expect(meter.read()?.cpuNs).toBeGreaterThanOrEqual(0);
});
