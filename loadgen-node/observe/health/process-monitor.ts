import assert from 'node:assert';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { monotonicClock } from '../../loadgen/engine/monotonic-clock.ts';
import type {
  GeneratorHealth,
  GeneratorMonitor,
  HealthSecond,
} from '../../loadgen/health/generator-health.ts';
import { GcLook, NOTHING_SEEN, pausesIn, together } from './gc-look.ts';
import { type MachineCpuTimes, readMachineCpu } from './machine-cpu.ts';
import { ThreadCpu, type ThreadCpuTimes } from './thread-cpu.ts';

/** Time between two looks at the event loop: 200 a second cost 0.1 % of a core. */
const RESOLUTION_MS = 5;
const PERIOD_MS = 1_000;
/** Of each period, how long garbage collection is looked at. */
const GC_LOOK_MS = 200;

/** Waiting in the QDL so far; only differences count. */
type BackPressureNow = () => { readonly socketNs: number; readonly creditNs: number };

/**
 * Watches the process and the thread that it is made in. The event loop's delay is that of a timer: LoadGen's own spinning, a
 * turn per µs, does not count as delay, and what holds a turn up does, whoever did it.
 */
export class ProcessMonitor implements GeneratorMonitor {
  readonly #backPressure: BackPressureNow | null;
  #watch: Watch | null = null;

  /** @param backPressure Null for a SUT without a network. */
  constructor(backPressure: BackPressureNow | null) {
    this.#backPressure = backPressure;
  }

  begin(): void {
    this.#watch = new Watch(this.#backPressure);
  }

  end(): GeneratorHealth {
    assert(this.#watch !== null, 'end without begin');
    const health = this.#watch.end();
    this.#watch = null;
    return health;
  }
}

/** One set. */
class Watch {
  readonly #backPressure: BackPressureNow | null;
  readonly #pressureAtBegin: ReturnType<BackPressureNow> | undefined;
  readonly #machineAtBegin: MachineCpuTimes | null = readMachineCpu();
  /** Of the seconds that have ended. */
  #gcSeen = NOTHING_SEEN;
  #gcLook: GcLook;
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
      stealShare: stealShare(this.#machineAtBegin, readMachineCpu()),
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

function sharesOf(
  begin: ThreadCpuTimes,
  end: ThreadCpuTimes,
  elapsedNs: number,
): { cpuShare: number; cpuWaitShare: number | null } {
  if (elapsedNs <= 0) return { cpuShare: 0, cpuWaitShare: null };
  const cpuWaitShare =
    begin.waitNs === null || end.waitNs === null ? null : (end.waitNs - begin.waitNs) / elapsedNs;
  return { cpuShare: (end.cpuNs - begin.cpuNs) / elapsedNs, cpuWaitShare };
}

/** The histogram holds the time between two looks; what is above the asked one is delay. 0 before the second look. */
function delayNs(delay: IntervalHistogram, pick: (delay: IntervalHistogram) => number): number {
  if (delay.count === 0) return 0;
  return Math.max(0, pick(delay) - RESOLUTION_MS * 1e6);
}

function stealShare(begin: MachineCpuTimes | null, end: MachineCpuTimes | null): number | null {
  if (begin === null || end === null || end.totalTicks <= begin.totalTicks) return null;
  return (end.stealTicks - begin.stealTicks) / (end.totalTicks - begin.totalTicks);
}
