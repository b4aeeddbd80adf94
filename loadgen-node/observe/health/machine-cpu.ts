import { readFileSync } from 'node:fs';

/** CPU time of all cores since boot, in ticks. */
export interface MachineCpuTimes {
  readonly totalTicks: number;
  /** Taken by the hypervisor. */
  readonly stealTicks: number;
}

/**
 * The machine's CPU times; null where the system has no /proc/stat, or an old one without steal. On a large
 * machine the file takes a millisecond: not for the timed path.
 */
export function readMachineCpu(path = '/proc/stat'): MachineCpuTimes | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // Not Linux: nothing is known of steal.
    return null;
  }
  const match = /^cpu +(\d[\d ]*)$/m.exec(text);
  // user nice system idle iowait irq softirq steal; guest times after them are in user already.
  const ticks = match?.[1]?.split(' ').slice(0, 8).map(Number) ?? [];
  const [, , , , , , , stealTicks] = ticks;
  if (stealTicks === undefined) return null;
  return { totalTicks: ticks.reduce((a, b) => a + b, 0), stealTicks };
}
