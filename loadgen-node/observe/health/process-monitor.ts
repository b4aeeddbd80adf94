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

/** Time between two samples of the event loop, in ms: 200 a second cost 0.1 % of a core. */
const RESOLUTION_MS = 5;
const PERIOD_MS = 1_000;
/** Time per period in which garbage collection is observed, in ms. */
const GC_LOOK_MS = 200;

/** Waiting times in the QDL so far; only differences count. */
type BackPressureNow = () => { readonly socketNs: number; readonly creditNs: number };

/**
 * Watches the process and the thread that creates it, one set after another. The event loop's delay
 * is that of a timer: LoadGen's own spinning, one turn per µs, does not count as delay; anything
 * that holds up a turn does.
 * @param backPressure Null for a SUT without a network.
 */
export function processMonitor(backPressure: BackPressureNow | null): GeneratorMonitor {
  return () => {
    const watch = new Watch(backPressure);
    return () => watch.end();
  };
}

/**
 * Returns a function that reports the process's use since its last call: cores kept busy, and
 * current memory.
 */
export function watchProcessUse(): () => { cores: number; residentBytes: number } {
  let last = { atNs: monotonicClock.nowNs(), cpuNs: processCpuNs() };
  return () => {
    const now = { atNs: monotonicClock.nowNs(), cpuNs: processCpuNs() };
    const cores = (now.cpuNs - last.cpuNs) / Math.max(1, now.atNs - last.atNs);
    last = now;
    return { cores, residentBytes: process.memoryUsage.rss() };
  };
}

/** Watch over one set. */
class Watch {
  readonly #backPressure: BackPressureNow | null;
  readonly #pressureAtBegin: ReturnType<BackPressureNow> | undefined;
  readonly #ticksAtBegin = ticksNow();
  readonly #throttling = new Throttling();
  /** Garbage collection in completed seconds. */
  #gcSeen = NOTHING_SEEN;
  #gcLook: GcLook;
  readonly #processUse = watchProcessUse();
  readonly #thread = new ThreadCpu();
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  /** Delay within the current second; the other monitor cannot report a part of its time. */
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
    // The timer must not keep a finished run alive.
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
        // Two timers do not fire at the same time: the longest delay is the longer of both.
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
 * The histogram holds times between two samples; the excess over the resolution is delay. 0 before
 * the second sample.
 */
function delayNs(delay: IntervalHistogram, pick: (delay: IntervalHistogram) => number): number {
  if (delay.count === 0) return 0;
  return Math.max(0, pick(delay) - RESOLUTION_MS * 1e6);
}

/** Counters of this process's CPU limits, since the object was created. */
export class Throttling {
  readonly #atBegin;

  /** @param folders Control groups of the process; some may not exist. */
  constructor(folders = cpuGroupFolders(ownText('/proc/self/cgroup') ?? '')) {
    this.#atBegin = folders.flatMap((folder) => {
      const seen = readThrottling(folder);
      return seen === null ? [] : [{ folder, ...seen }];
    });
  }

  /**
   * The control group that throttled the process longest; null if none has a limit. Reads a small
   * file per group.
   */
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

/**
 * Counters of a control group since it was created; without a limit the kernel counts no periods.
 * Null if the group does not exist. Source: Linux, cgroup-v2 and sched-bwc.
 */
function readThrottling(folder: string): NonNullable<GeneratorHealth['throttled']> | null {
  const text = ownText(`${folder}/cpu.stat`) ?? '';
  const count = (name: string): number =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  const periods = count('nr_periods');
  if (Number.isNaN(periods)) return null;
  // cgroup v2 reports µs, cgroup v1 ns.
  const totalNs = count('throttled_usec') * 1_000 || count('throttled_time') || 0;
  return { periods, throttledPeriods: count('nr_throttled') || 0, totalNs };
}

/** CPU ticks from /proc/stat. On a large machine the file takes 1 ms: not for the timed path. */
function ticksNow() {
  return processorTicks(ownText('/proc/stat'));
}

/** Garbage collection pauses while observed, in ns. */
interface SeenPauses {
  readonly count: number;
  readonly totalNs: number;
  readonly maxNs: number;
  /** Time observed. */
  readonly lookedNs: number;
}

/** Value before the first observation. */
const NOTHING_SEEN: SeenPauses = { count: 0, totalNs: 0, maxNs: 0, lookedNs: 0 };

/**
 * Observes this thread's garbage collection. Keep it short: meanwhile Node takes 35 µs more per
 * pause, and a spinning loop has a hundred pauses a second.
 */
class GcLook {
  readonly #sinceNs: number;
  readonly #observer = new PerformanceObserver((list) => this.#add(list.getEntries()));
  #seen = NOTHING_SEEN;

  constructor(nowNs: number) {
    this.#sinceNs = nowNs;
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** Ends the observation; a second call has no effect. @returns Observed pauses. */
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

/** Joins the pauses of two observations. */
function together(a: SeenPauses, b: SeenPauses): SeenPauses {
  return {
    count: a.count + b.count,
    totalNs: a.totalNs + b.totalNs,
    maxNs: Math.max(a.maxNs, b.maxNs),
    lookedNs: a.lookedNs + b.lookedNs,
  };
}

/**
 * Pauses in a time span at the observed rate: count and sum are estimates, the longest is as
 * observed.
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

/** Reads the calling thread's CPU use; 2 µs per call. */
class ThreadCpu {
  readonly #file: number | null;
  readonly #text = Buffer.alloc(96);

  /**
   * Opens the kernel's scheduler statistics of this thread; without them the process is measured.
   */
  constructor() {
    this.#file = openOrNull('/proc/thread-self/schedstat');
  }

  /** CPU time and time waiting for a core (null if unknown), in ns since creation. */
  read() {
    if (this.#file !== null) {
      const length = readSync(this.#file, this.#text, 0, this.#text.length, 0);
      const [cpu, wait] = this.#text.toString('latin1', 0, length).split(' ').map(Number);
      // Kernels without the statistics show zeros; a thread that reads a file has certainly run.
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

/** Some systems lack the file; the process's CPU time is used there. */
function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
