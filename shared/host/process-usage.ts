import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { timerClock } from '../base/clock.ts';

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

/** Counters of this process, its children and the machine at one moment. */
interface Counters {
  readonly atNs: number;
  readonly ownNs: number;
  readonly idleNs: number | undefined;
  /** By process id. */
  readonly children: ReadonlyMap<number, ChildCounters>;
}

interface ChildCounters {
  readonly cpuNs: number;
  readonly residentPages: number;
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
    this.#last = this.#look();
  }

  /**
   * CPU and memory since the last call, or since the meter was made; undefined where there are children and the system does not tell
   * of other processes.
   */
  read(): ProcessUsage | undefined {
    const last = this.#last;
    const now = this.#look();
    this.#last = now;
    const intervalNs = now.atNs - last.atNs;
    const ownBytes = process.memoryUsage.rss();
    const childrenBytes = this.#childPids().length === 0 ? 0 : bytesOfChildren(now, ownBytes);
    if (intervalNs <= 0 || childrenBytes === undefined) return undefined;
    let cpuNs = now.ownNs - last.ownNs;
    for (const [pid, child] of now.children) {
      cpuNs += Math.max(0, child.cpuNs - (last.children.get(pid)?.cpuNs ?? 0));
    }
    return {
      intervalNs,
      cpuNs,
      residentBytes: ownBytes + childrenBytes,
      ...this.#machine(last, now),
    };
  }

  #look(): Counters {
    const { user, system } = process.cpuUsage();
    const children = new Map<number, ChildCounters>();
    for (const pid of this.#childPids()) {
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

  #machine(last: Counters, now: Counters): Pick<ProcessUsage, 'machineBusyNs'> {
    if (last.idleNs === undefined || now.idleNs === undefined) return {};
    const allNs = this.#coreCount * (now.atNs - last.atNs);
    const busyNs = allNs - (now.idleNs - last.idleNs);
    return { machineBusyNs: Math.min(Math.max(0, busyNs), allNs) };
  }
}

/** The kernel tells pages of unknown size; this process knows its own memory in bytes as well. */
function bytesOfChildren({ children }: Counters, ownBytes: number): number | undefined {
  const ownPages = countersOf('self')?.residentPages ?? 0;
  if (ownPages === 0) return undefined;
  const pageBytes = 2 ** Math.round(Math.log2(ownBytes / ownPages));
  let pages = 0;
  for (const { residentPages } of children.values()) pages += residentPages;
  return pages * pageBytes;
}

/** Undefined where there is no such process any more, or no /proc. */
function countersOf(pid: number | 'self'): ChildCounters | undefined {
  const text = textOf(`/proc/${pid}/stat`);
  // The name of the program stands in brackets, and may have some of its own.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  const [userTicks, systemTicks, residentPages] = [11, 12, 21].map((at) => Number(fields[at]));
  if (userTicks === undefined || systemTicks === undefined || !(Number(residentPages) >= 0)) {
    return undefined;
  }
  return { cpuNs: (userTicks + systemTicks) * TICK_NS, residentPages: residentPages as number };
}

/** Time that the cores of the machine were idle since it started, all together. A sandbox tells 0. */
function idleNs(): number | undefined {
  const seconds = Number(textOf('/proc/uptime')?.split(' ')[1]);
  return seconds > 0 ? Math.round(seconds * 1e9) : undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // Another system than Linux, or a process that has ended.
    return undefined;
  }
}
