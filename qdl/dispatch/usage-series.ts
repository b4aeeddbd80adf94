import { formatNs } from '../../shared/base/text.ts';

/** Report of a node on its machine, as on the wire (`NodeUsage`). */
export interface NodeUsage {
  readonly intervalNs: number;
  readonly cpuNs: number;
  readonly residentBytes: number;
  /** Absent: not known. */
  readonly machineBusyNs?: number | undefined;
}

/** Processors and memory of a node. */
export interface NodeMachine {
  readonly cpuCount: number;
  readonly memoryBytes: number;
}

/** CPU and memory of a node over a length of time; cores that were busy on average. */
export interface UsagePoint {
  /** When it ended, since the performance run began. */
  readonly atNs: number;
  readonly cores: number;
  readonly residentBytes: number;
  /** Cores of the whole machine that were not idle; absent: not known. */
  readonly machineCores?: number;
}

/** A report, or neighbours as one, with the moment at which it came. */
interface Report extends NodeUsage {
  readonly atNs: number;
}

/** Reports that are kept. */
const REPORTS_MAX = 600;

/** A report is news for so long. */
const NEWS_NS = 3e9;

/** More CPU time than a processor has in an interval, by the ticks in which systems count it (10 ms) for every process. */
const CPU_TOLERANCE = 1.1;
const CPU_TOLERANCE_NS = 1e8;

/** Most processors of one Linux (CONFIG_NR_CPUS, x86-64): for a node that tells none, or more. */
const PROCESSORS_MAX = 8_192;

/**
 * Reports of one node on its machine over a run, in bounded memory: of too many reports neighbours become one, so that a report
 * covers 1, 2, 4, ... seconds. CPU times add up, of memory the larger one stays.
 */
export class UsageSeries {
  #reports: Report[] = [];
  #latest: Report | undefined;
  /** Length of a report. */
  #reportNs = 0;
  #beginNs = Number.NaN;
  readonly #machine: () => NodeMachine | undefined;

  /** @param machine Of the node, as far as it tells; asked at each report. */
  constructor(machine: () => NodeMachine | undefined = () => undefined) {
    this.#machine = machine;
  }

  /** The run begins now; only the first call counts. */
  begin(nowNs: number): void {
    if (Number.isNaN(this.#beginNs)) this.#beginNs = nowNs;
  }

  /**
   * Takes a report that came now, if it can be.
   * @returns Why it cannot, in words that follow the node's name.
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
    // Told of what was before the run, for the greater part.
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

  /** The newest one; undefined where there is none, or it is too old to be told as the present. */
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
