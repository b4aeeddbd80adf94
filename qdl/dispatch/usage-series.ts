import { formatNs } from '../../shared/base/text.ts';

/** Report of a node on its CPU and memory, as on the wire (`NodeUsage`). */
export interface NodeUsage {
  readonly intervalNs: number;
  readonly cpuNs: number;
  readonly residentBytes: number;
  /** Absent: unknown. */
  readonly machineBusyNs?: number | undefined;
}

/** Processors and memory of a node. */
export interface NodeMachine {
  readonly cpuCount: number;
  readonly memoryBytes: number;
}

/** CPU (mean busy cores) and memory of a node in an interval. */
export interface UsagePoint {
  /** End of the interval, ns since the performance run began. */
  readonly atNs: number;
  readonly cores: number;
  readonly residentBytes: number;
  /** Busy cores of the whole machine; absent: unknown. */
  readonly machineCores?: number;
}

/** A report, or merged neighbours, with its arrival time. */
interface Report extends NodeUsage {
  readonly atNs: number;
}

/** Largest number of stored reports. */
const REPORTS_MAX = 600;

/** Age up to which a report counts as current. */
const NEWS_NS = 3e9;

/**
 * Tolerance for CPU time above the processors' maximum: systems count it in ticks of 10 ms per
 * process.
 */
const CPU_TOLERANCE = 1.1;
const CPU_TOLERANCE_NS = 1e8;

/**
 * Most processors of one Linux (CONFIG_NR_CPUS, x86-64): bound for a node that reports none, or
 * more.
 */
const PROCESSORS_MAX = 8_192;

/**
 * Reports of one node on CPU and memory over a run, in bounded memory: when full, neighbours are
 * merged, so a report covers 1, 2, 4, ... seconds. CPU times are added; of two memory values the
 * larger stays.
 */
export class UsageSeries {
  #reports: Report[] = [];
  #latest: Report | undefined;
  /** Length of a report, ns. */
  #reportNs = 0;
  #beginNs = Number.NaN;
  readonly #machine: () => NodeMachine | undefined;

  /** @param machine Cores and memory of the node, if reported; called at each report. */
  constructor(machine: () => NodeMachine | undefined = () => undefined) {
    this.#machine = machine;
  }

  /** Starts the run now; only the first call counts. */
  begin(nowNs: number): void {
    if (Number.isNaN(this.#beginNs)) this.#beginNs = nowNs;
  }

  /**
   * Adds a report that came now, if it is possible.
   * @returns Why it is impossible, as text to follow the node's name.
   */
  add(usage: NodeUsage, nowNs: number): string | undefined {
    const { intervalNs, cpuNs, residentBytes, machineBusyNs } = usage;
    if (intervalNs <= 0) return undefined;
    const fault = faultOf(usage, this.#machine());
    if (fault !== undefined) return fault;
    this.#take({ atNs: nowNs, intervalNs, cpuNs, residentBytes, machineBusyNs });
    return undefined;
  }

  #take(report: Report): void {
    const { atNs: nowNs, intervalNs } = report;
    this.#latest = report;
    // The report covers mostly the time before the run.
    if (!(nowNs - intervalNs / 2 >= this.#beginNs)) return;
    const last = this.#reports.at(-1);
    // Full to within half a report.
    if (last !== undefined && last.intervalNs + intervalNs / 2 < this.#reportNs) {
      this.#reports[this.#reports.length - 1] = together(last, report);
      return;
    }
    this.#reports.push(report);
    if (this.#reports.length > REPORTS_MAX) this.#thin();
  }

  /** The newest report; undefined if there is none or it is too old. */
  latest(nowNs: number): UsagePoint | undefined {
    const report = this.#latest;
    return report === undefined || nowNs - report.atNs > NEWS_NS ? undefined : pointOf(report, 0);
  }

  points(): UsagePoint[] {
    return this.#reports.map((report) => pointOf(report, this.#beginNs));
  }

  #thin(): void {
    const merged: Report[] = [];
    for (let i = 0; i < this.#reports.length; i += 2) {
      const first = this.#reports[i] as Report; // In range.
      const second = this.#reports[i + 1];
      merged.push(second === undefined ? first : together(first, second));
    }
    this.#reports = merged;
    this.#reportNs = 2 * (this.#reportNs || (merged[0] as Report).intervalNs / 2);
  }
}

function faultOf(
  { intervalNs, cpuNs, residentBytes, machineBusyNs = 0 }: NodeUsage,
  machine: NodeMachine | undefined,
): string | undefined {
  const { cpuCount = 0, memoryBytes = 0 } = machine ?? {};
  const processors = Math.min(cpuCount || PROCESSORS_MAX, PROCESSORS_MAX);
  const mostNs = processors * (intervalNs * CPU_TOLERANCE + CPU_TOLERANCE_NS);
  const usedNs = Math.max(cpuNs, machineBusyNs);
  if (usedNs > mostNs) {
    const inTime = `${formatNs(usedNs)} of CPU time in ${formatNs(intervalNs)}`;
    return `reported ${inTime}, with ${processors} processors at most; such reports are not used`;
  }
  if (memoryBytes === 0 || residentBytes <= memoryBytes) return undefined;
  return `reported ${residentBytes} bytes of memory, of ${memoryBytes}; such reports are not used`;
}

function together(first: Report, next: Report): Report {
  const machineBusyNs =
    first.machineBusyNs === undefined || next.machineBusyNs === undefined
      ? undefined
      : first.machineBusyNs + next.machineBusyNs;
  return {
    atNs: next.atNs,
    intervalNs: first.intervalNs + next.intervalNs,
    cpuNs: first.cpuNs + next.cpuNs,
    residentBytes: Math.max(first.residentBytes, next.residentBytes),
    machineBusyNs,
  };
}

function pointOf(
  { atNs, intervalNs, cpuNs, residentBytes, machineBusyNs }: Report,
  beginNs: number,
): UsagePoint {
  return {
    atNs: atNs - beginNs,
    cores: cpuNs / intervalNs,
    residentBytes,
    ...(machineBusyNs === undefined ? {} : { machineCores: machineBusyNs / intervalNs }),
  };
}
