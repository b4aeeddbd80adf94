import { cpus } from 'node:os';
import { timerClock } from '../base/clock.ts';
import { ownText } from './machine-source.ts';

/** How much of its machine a process used in a length of time. */
export interface ProcessUsage {
  readonly intervalNs: number;
  /** CPU time of all its threads, and of the child processes that were named. */
  readonly cpuNs: number;
  /** Resident memory of the same processes, at the end. */
  readonly residentBytes: number;
  /** The sum over all cores of the machine of the time in which they were not idle; absent: not known. */
  readonly machineBusyNs?: number;
}

/** Linux counts the time of other processes, and that of idle cores, in hundredths of a second. */
const TICK_NS = 1e7;

/** Measures this process, and its children where some are named, from one {@link read} to the next. A read takes some 50 µs. */
export class UsageMeter {
  readonly #childPids: () => readonly number[];
  readonly #coreCount = cpus().length;
  #last: Counters;

  /** @param childPids Ids of the child processes that count as well. Default: none does. */
  constructor(childPids: () => readonly number[] = () => []) {
    this.#childPids = childPids;
    this.#last = countersNow(childPids());
  }

  /**
   * CPU and memory since the last call, or since the meter was made; undefined where there are children and the system does not tell
   * of other processes.
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

/** The kernel tells pages of unknown size; this process knows its own memory in bytes as well. */
function bytesOfChildren({ children }: Counters, ownBytes: number): number | undefined {
  const ownPages = countersOf('self')?.residentPages ?? 0;
  if (ownPages === 0) return undefined;
  const pageBytes = 2 ** Math.round(Math.log2(ownBytes / ownPages));
  const pages = [...children.values()].map(({ residentPages }) => residentPages);
  return pages.reduce((sum, count) => sum + count, 0) * pageBytes;
}

type ChildCounters = NonNullable<ReturnType<typeof countersOf>>;

/** Undefined where there is no such process any more, or no /proc. */
function countersOf(pid: number | 'self') {
  const text = ownText(`/proc/${pid}/stat`) ?? '';
  // The name of the program stands in brackets, and may have some of its own.
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

/** Time that the cores of the machine were idle since it started, all together. A sandbox tells 0. */
function idleNs(): number | undefined {
  const seconds = Number(ownText('/proc/uptime')?.split(' ')[1]);
  return seconds > 0 ? Math.round(seconds * 1e9) : undefined;
}
