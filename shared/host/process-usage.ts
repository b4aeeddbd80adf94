import { cpus } from 'node:os';
import { timerClock } from '../base/clock.ts';
import { ownText } from './machine-source.ts';

/** CPU and memory use of a process in an interval. */
export interface ProcessUsage {
  readonly intervalNs: number;
  /** CPU time of all threads and of the listed child processes, ns. */
  readonly cpuNs: number;
  /** Resident memory of the same processes, at the end. */
  readonly residentBytes: number;
  /** Busy time of the whole machine, summed over its cores, ns; absent: unknown. */
  readonly machineBusyNs?: number;
}

/** Linux counts the time of other processes and of idle cores in units of 10 ms. */
const TICK_NS = 1e7;

/**
 * Measures this process and listed child processes between two {@link read} calls. A read takes
 * about 50 µs.
 */
export class UsageMeter {
  readonly #childPids: () => readonly number[];
  readonly #coreCount = cpus().length;
  #last: Counters;

  /** @param childPids Returns the ids of child processes to include. Default: none. */
  constructor(childPids: () => readonly number[] = () => []) {
    this.#childPids = childPids;
    this.#last = countersNow(childPids());
  }

  /**
   * CPU and memory since the last call or construction; undefined if there are children and the
   * system does not report other processes.
   */
  read(): ProcessUsage | undefined {
    const childPids = this.#childPids();
    const [last, now] = [this.#last, countersNow(childPids)];
    this.#last = now;
    const intervalNs = now.atNs - last.atNs;
    const ownBytes = process.memoryUsage.rss();
    const childrenBytes = childPids.length === 0 ? 0 : bytesOfChildren(now, ownBytes);
    if (intervalNs <= 0 || childrenBytes === undefined) return undefined;
    let cpuNs = now.ownNs - last.ownNs;
    for (const [pid, child] of now.children) {
      cpuNs += Math.max(0, child.cpuNs - (last.children.get(pid)?.cpuNs ?? 0));
    }
    const usage = { intervalNs, cpuNs, residentBytes: ownBytes + childrenBytes };
    if (last.idleNs === undefined || now.idleNs === undefined) return usage;
    const allNs = this.#coreCount * intervalNs;
    const machineBusyNs = Math.min(Math.max(0, allNs - (now.idleNs - last.idleNs)), allNs);
    return { ...usage, machineBusyNs };
  }
}

/** Counters of this process, its children by process id, and the machine. */
function countersNow(childPids: readonly number[]) {
  const { user, system } = process.cpuUsage();
  const children = new Map<number, ChildCounters>();
  for (const pid of childPids) {
    const counters = countersOf(pid);
    if (counters !== undefined) children.set(pid, counters);
  }
  return {
    atNs: timerClock.nowNs(),
    ownNs: (user + system) * 1_000,
    idleNs: idleNs(),
    children,
  };
}

type Counters = ReturnType<typeof countersNow>;

/** The kernel reports pages of unknown size; this process knows its own memory in both units. */
function bytesOfChildren({ children }: Counters, ownBytes: number): number | undefined {
  const ownPages = countersOf('self')?.residentPages ?? 0;
  if (ownPages === 0) return undefined;
  const pageBytes = 2 ** Math.round(Math.log2(ownBytes / ownPages));
  const pages = [...children.values()].map(({ residentPages }) => residentPages);
  return pages.reduce((sum, count) => sum + count, 0) * pageBytes;
}

type ChildCounters = NonNullable<ReturnType<typeof countersOf>>;

/** Undefined if the process has ended, or without /proc. */
function countersOf(pid: number | 'self') {
  const text = ownText(`/proc/${pid}/stat`) ?? '';
  // The program's name is in brackets and may contain brackets.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [userTicks, systemTicks, residentPages] = [fields[11], fields[12], fields[21]];
  if (userTicks === undefined || systemTicks === undefined || residentPages === undefined) {
    return undefined;
  }
  return { cpuNs: (userTicks + systemTicks) * TICK_NS, residentPages };
}

/** Idle time of all cores since boot, summed. A sandbox reports 0. */
function idleNs(): number | undefined {
  const seconds = Number(ownText('/proc/uptime')?.split(' ')[1]);
  return seconds > 0 ? Math.round(seconds * 1e9) : undefined;
}
