import { closeSync, openSync, readSync } from 'node:fs';
import {
  type IntervalHistogram,
  monitorEventLoopDelay,
  PerformanceObserver,
} from 'node:perf_hooks';
import { ownText } from '../../../shared/host/machine-source.ts';
import { cpuGroupFolders, processorTicks, tickShare } from '../../../shared/host/tuning-facts.ts';
import { monotonicClock } from '../../loadgen/engine/monotonic-clock.ts';
import type {
  GeneratorHealth,
  GeneratorMonitor,
  HealthSecond,
} from '../../loadgen/results/generator-health.ts';

/** Time between two looks at the event loop: 200 a second cost 0.1 % of a core. */
const RESOLUTION_MS = 5;
const PERIOD_MS = 1_000;
/** Of each period, how long garbage collection is looked at. */
const GC_LOOK_MS = 200;

/** Waiting in the QDL so far; only differences count. */
type BackPressureNow = () => { readonly socketNs: number; readonly creditNs: number };

/**
 * Watches the process and the thread that it is made in, one set after the other. The event loop's delay is that of a timer:
 * LoadGen's own spinning, a turn per µs, does not count as delay, and all that holds a turn up does.
 * @param backPressure Null for a SUT without a network.
 */
export function processMonitor(backPressure: BackPressureNow | null): GeneratorMonitor {
  return () => {
    const watch = new Watch(backPressure);
    return () => watch.end();
  };
}

/** Tells at each call what this process used since the one before: the cores that its threads kept busy, and its memory now. */
export function watchProcessUse(): () => { cores: number; residentBytes: number } {
  let last = { atNs: monotonicClock.nowNs(), cpuNs: processCpuNs() };
  return () => {
    const now = { atNs: monotonicClock.nowNs(), cpuNs: processCpuNs() };
    const cores = (now.cpuNs - last.cpuNs) / Math.max(1, now.atNs - last.atNs);
    last = now;
    return { cores, residentBytes: process.memoryUsage.rss() };
  };
}

/** One set. */
class Watch {
  readonly #backPressure: BackPressureNow | null;
  readonly #pressureAtBegin: ReturnType<BackPressureNow> | undefined;
  readonly #ticksAtBegin = ticksNow();
  readonly #throttling = new Throttling();
  /** Of the seconds that have ended. */
  #gcSeen = NOTHING_SEEN;
  #gcLook: GcLook;
  readonly #processUse = watchProcessUse();
  readonly #thread = new ThreadCpu();
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  /** The same within one second; the other one cannot be asked for a part of its time. */
  readonly #delayOfSecond = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #seconds: HealthSecond[] = [];
  readonly #timer: NodeJS.Timeout;
  #restTimer: NodeJS.Timeout | undefined;
  readonly #beginNs: number;
  readonly #cpuAtBegin: ThreadCpuTimes;
  #last: { readonly atNs: number; readonly cpu: ThreadCpuTimes };

  constructor(backPressure: BackPressureNow | null) {
    this.#backPressure = backPressure;
    this.#pressureAtBegin = backPressure?.();
    this.#timer = setInterval(() => {
      this.#endSecond();
      this.#gcLook = this.#lookAtGc(this.#last.atNs);
    }, PERIOD_MS);
    // A run that is over must not wait for it.
    this.#timer.unref();
    this.#delay.enable();
    this.#delayOfSecond.enable();
    this.#cpuAtBegin = this.#thread.read();
    this.#beginNs = monotonicClock.nowNs();
    this.#last = { atNs: this.#beginNs, cpu: this.#cpuAtBegin };
    this.#gcLook = this.#lookAtGc(this.#beginNs);
  }

  end(): GeneratorHealth {
    clearInterval(this.#timer);
    this.#endSecond();
    this.#delay.disable();
    this.#delayOfSecond.disable();
    this.#thread.close();
    const elapsedNs = this.#last.atNs - this.#beginNs;
    return {
      ...sharesOf(this.#cpuAtBegin, this.#last.cpu, elapsedNs),
      eventLoopDelay: {
        p50Ns: delayNs(this.#delay, (delay) => delay.percentile(50)),
        p99Ns: delayNs(this.#delay, (delay) => delay.percentile(99)),
        // Two timers do not fire at one instant: the longest delay is that which either saw.
        maxNs: this.#seconds.reduce(
          (most, { eventLoopDelayMaxNs }) => Math.max(most, eventLoopDelayMaxNs),
          delayNs(this.#delay, (delay) => delay.max),
        ),
      },
      gc: pausesIn(elapsedNs, this.#gcSeen),
      throttled: this.#throttling.end(),
      stealShare: tickShare('steal', this.#ticksAtBegin, ticksNow()),
      backPressure: this.#pressureSinceBegin(),
      seconds: this.#seconds,
    };
  }

  #endSecond(): void {
    const atNs = monotonicClock.nowNs();
    const cpu = this.#thread.read();
    const last = this.#last;
    clearTimeout(this.#restTimer);
    const gc = this.#gcLook.end(atNs);
    this.#gcSeen = together(this.#gcSeen, gc);
    this.#seconds.push({
      atNs: atNs - this.#beginNs,
      ...sharesOf(last.cpu, cpu, atNs - last.atNs),
      eventLoopDelayMaxNs: delayNs(this.#delayOfSecond, (delay) => delay.max),
      gcNs: pausesIn(atNs - last.atNs, gc).totalNs,
      process: this.#processUse(),
    });
    this.#delayOfSecond.reset();
    this.#last = { atNs, cpu };
  }

  #lookAtGc(nowNs: number): GcLook {
    const look = new GcLook(nowNs);
    this.#restTimer = setTimeout(() => look.end(monotonicClock.nowNs()), GC_LOOK_MS);
    this.#restTimer.unref();
    return look;
  }

  #pressureSinceBegin(): GeneratorHealth['backPressure'] {
    const end = this.#backPressure?.();
    const begin = this.#pressureAtBegin;
    if (end === undefined || begin === undefined) return null;
    return {
      socketNs: end.socketNs - begin.socketNs,
      creditNs: end.creditNs - begin.creditNs,
    };
  }
}

function sharesOf(begin: ThreadCpuTimes, end: ThreadCpuTimes, elapsedNs: number) {
  if (elapsedNs <= 0) return { cpuShare: 0, cpuWaitShare: null };
  const cpuWaitShare =
    begin.waitNs === null || end.waitNs === null ? null : (end.waitNs - begin.waitNs) / elapsedNs;
  return { cpuShare: (end.cpuNs - begin.cpuNs) / elapsedNs, cpuWaitShare };
}

/**
 * The histogram holds the time between two looks; what is above the asked one is delay. 0 before
 * the second look.
 */
function delayNs(delay: IntervalHistogram, pick: (delay: IntervalHistogram) => number): number {
  if (delay.count === 0) return 0;
  return Math.max(0, pick(delay) - RESOLUTION_MS * 1e6);
}

/** Counters of the CPU limits that hold for this process, since it was made. */
export class Throttling {
  readonly #atBegin;

  /** @param folders Control groups of the process; some may not be there. */
  constructor(folders = cpuGroupFolders(ownText('/proc/self/cgroup') ?? '')) {
    this.#atBegin = folders.flatMap((folder) => {
      const seen = readThrottling(folder);
      return seen === null ? [] : [{ folder, ...seen }];
    });
  }

  /** The group that stopped the process longest; null where none has a limit. Reads a small file per group. */
  end(): NonNullable<GeneratorHealth['throttled']> | null {
    const since = this.#atBegin.flatMap(({ folder, periods, throttledPeriods, totalNs }) => {
      const now = readThrottling(folder);
      if (now === null) return [];
      return [
        {
          periods: now.periods - periods,
          throttledPeriods: now.throttledPeriods - throttledPeriods,
          totalNs: now.totalNs - totalNs,
        },
      ];
    });
    const limited = since.filter(({ periods }) => periods > 0);
    const [longest = null] = limited.sort((a, b) => b.totalNs - a.totalNs);
    return longest;
  }
}

/** Counters of a group since it was made; without a limit the kernel counts no periods. Null where there is no such group. Source: Linux, cgroup-v2 and sched-bwc. */
function readThrottling(folder: string): NonNullable<GeneratorHealth['throttled']> | null {
  const text = ownText(`${folder}/cpu.stat`) ?? '';
  const count = (name: string): number =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  const periods = count('nr_periods');
  if (Number.isNaN(periods)) return null;
  // cgroup 2 has microseconds, cgroup 1 nanoseconds.
  const totalNs = count('throttled_usec') * 1_000 || count('throttled_time') || 0;
  return { periods, throttledPeriods: count('nr_throttled') || 0, totalNs };
}

/** On a large machine the file takes a millisecond: not for the timed path. */
function ticksNow() {
  return processorTicks(ownText('/proc/stat'));
}

/** Pauses of garbage collection during looks, in ns. */
interface SeenPauses {
  readonly count: number;
  readonly totalNs: number;
  readonly maxNs: number;
  /** How long that was. */
  readonly lookedNs: number;
}

/** Before the first look. */
const NOTHING_SEEN: SeenPauses = { count: 0, totalNs: 0, maxNs: 0, lookedNs: 0 };

/**
 * A look at this thread's garbage collection. It has to be short: during a look Node takes 35 µs more per pause, and a
 * loop that spins has a hundred pauses a second.
 */
class GcLook {
  readonly #sinceNs: number;
  readonly #observer = new PerformanceObserver((list) => this.#add(list.getEntries()));
  #seen = NOTHING_SEEN;

  constructor(nowNs: number) {
    this.#sinceNs = nowNs;
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** Ends the look; a second call has no effect. @returns What it saw. */
  end(nowNs: number): SeenPauses {
    if (this.#seen.lookedNs > 0) return this.#seen;
    this.#add(this.#observer.takeRecords());
    this.#observer.disconnect();
    this.#seen = { ...this.#seen, lookedNs: Math.max(1, nowNs - this.#sinceNs) };
    return this.#seen;
  }

  #add(entries: readonly { readonly duration: number }[]): void {
    let { count, totalNs, maxNs, lookedNs } = this.#seen;
    for (const { duration } of entries) {
      const ns = Math.round(duration * 1e6);
      count += 1;
      totalNs += ns;
      maxNs = Math.max(maxNs, ns);
    }
    this.#seen = { count, totalNs, maxNs, lookedNs };
  }
}

/** Pauses of two looks as one. */
function together(a: SeenPauses, b: SeenPauses): SeenPauses {
  return {
    count: a.count + b.count,
    totalNs: a.totalNs + b.totalNs,
    maxNs: Math.max(a.maxNs, b.maxNs),
    lookedNs: a.lookedNs + b.lookedNs,
  };
}

/**
 * Pauses in a length of time at the rate that was seen: count and sum are estimates, the longest
 * one is as seen.
 */
function pausesIn(lengthNs: number, seen: SeenPauses) {
  const factor = seen.lookedNs === 0 ? 0 : lengthNs / seen.lookedNs;
  return {
    count: Math.round(seen.count * factor),
    totalNs: Math.round(seen.totalNs * factor),
    maxNs: seen.maxNs,
  };
}

type ThreadCpuTimes = ReturnType<ThreadCpu['read']>;

/** Looks at the calling thread's use of the CPU, 2 µs a look. */
class ThreadCpu {
  readonly #file: number | null;
  readonly #text = Buffer.alloc(96);

  /**
   * Opens the kernel's scheduler statistics of this thread; without them it is the process that is
   * measured.
   */
  constructor() {
    this.#file = openOrNull('/proc/thread-self/schedstat');
  }

  /** CPU time, and time in which it waited for a core (null where not known), in ns since it began. */
  read() {
    if (this.#file !== null) {
      const length = readSync(this.#file, this.#text, 0, this.#text.length, 0);
      const [cpu, wait] = this.#text.toString('latin1', 0, length).split(' ').map(Number);
      // Kernels without the statistics show zeros: a thread that reads a file has run.
      if (cpu !== undefined && wait !== undefined && cpu > 0) return { cpuNs: cpu, waitNs: wait };
    }
    return { cpuNs: processCpuNs(), waitNs: null };
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
  }
}

/** CPU time of all threads of this process. */
function processCpuNs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1_000;
}

/** Not every system has the file; there the process's CPU time stands in. */
function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
