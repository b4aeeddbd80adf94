/**
 * Latencies completed in a window: samples, in MultiStream whole queries; histogram estimates, off
 * by at most 1.6 %.
 */
export interface LatencyFigures {
  readonly count: number;
  readonly p50Ns: number;
  readonly p90Ns: number;
  readonly p99Ns: number;
  readonly p999Ns: number;
  /** Exact. */
  readonly maxNs: number;
}

/** Lateness of LoadGen itself in a window. */
export interface LagFigures {
  readonly p50Ns: number;
  readonly p99Ns: number;
  /** Exact. */
  readonly maxNs: number;
}

/** The nodes in a window, each indexed by number. Their names do not change and are sent once. */
export interface NodeFigures {
  /** Samples currently waiting for its response. */
  readonly outstanding: readonly number[];
  readonly completedPerS: readonly number[];
  /** Mean latency of the samples it answered; null without any. */
  readonly meanNs: readonly (number | null)[];
  /** Samples that it reported as failed since the run began. */
  readonly failed: readonly number[];
  /** Numbers of lost nodes. */
  readonly lost: readonly number[];
  /** Last machine report of each node; null for nodes that report none. */
  readonly usage: readonly (MachineUse | null)[];
}

/** CPU and memory of a process. */
export interface MachineUse {
  /** Cores kept busy. */
  readonly cores: number;
  readonly residentBytes: number;
}

/** Totals before anything was issued. */
export const NO_TOTALS = {
  issuedQueries: 0,
  issuedSamples: 0,
  completedSamples: 0,
  lostSamples: 0,
};

/** Counts since the run began, over all its sets. */
export type LiveTotals = Readonly<typeof NO_TOTALS>;

/** Sum of two runs' or sets' counts. */
export function addTotals(a: LiveTotals, b: LiveTotals): LiveTotals {
  return {
    issuedQueries: a.issuedQueries + b.issuedQueries,
    issuedSamples: a.issuedSamples + b.issuedSamples,
    completedSamples: a.completedSamples + b.completedSamples,
    lostSamples: a.lostSamples + b.lostSamples,
  };
}

/** State of a run at one time, and the window since the snapshot before, about a second ago. */
export interface LiveSnapshot {
  /** Time of the snapshot, in seconds of the process's clock. */
  readonly atS: number;
  /** Length of the window, in s; above 0. */
  readonly windowS: number;
  readonly phase: 'accuracy' | 'performance';
  /** Sets of the phase, or parts of a run that was extended. */
  readonly set: { readonly index: number; readonly count: number };
  /** Seconds since the first query of the set. */
  readonly elapsedS: number;
  /**
   * Share of the phase that is done, 0 to 1, and the remaining time in seconds: estimates; null if
   * unknown.
   */
  readonly share: number | null;
  readonly remainingS: number | null;
  /**
   * Queries that early stopping needs, the completed ones, and whether the rest will come before
   * the run must end (null: unknown yet); undefined if the verdict does not wait for it.
   */
  readonly decision?:
    | {
        readonly neededQueries: number;
        readonly queries: number;
        readonly isInTime: boolean | null;
      }
    | undefined;
  /** Null if the set ends by time and count: the plan then has more queries than will be issued. */
  readonly plannedQueries: number | null;
  readonly issuedQueriesOfSet: number;
  readonly completedSamplesOfSet: number;
  readonly totals: LiveTotals;
  /** Issued samples that are neither completed nor lost. */
  readonly outstanding: number;
  /** Unit of the rates: samples in Offline and in accuracy runs of one query, else queries. */
  readonly rateUnit: 'queries' | 'samples';
  /** Null if everything was issued at once. */
  readonly issuedPerS: number | null;
  readonly completedPerS: number;
  /** Rate of the schedule in the window; null without one. */
  readonly targetPerS: number | null;
  /** Server's bound and its percentile as a fraction; null elsewhere. */
  readonly bound: { readonly latencyNs: number; readonly percentile: number } | null;
  /** Null if no sample completed in the window. */
  readonly latency: LatencyFigures | null;
  /** Latencies of the set so far; null before its first completion. */
  readonly overall: LatencyFigures | null;
  /** Estimated share above the bound, 0 to 1; null without a bound or a completion. */
  readonly overShare: number | null;
  readonly lag: LagFigures | null;
  /**
   * Lag of the set so far, and the largest p99 that the verdict's rule allows; null and 0 without
   * such a rule.
   */
  readonly lagSoFar: LagFigures | null;
  readonly lagNsMax: number;
  /**
   * Share by which the load so far certainly exceeds the SUT's capacity; null if no growth is seen.
   */
  readonly growth: number | null;
  /** Mean parts in ns in the order of LATENCY_PARTS; null if no node reported its times. */
  readonly split: readonly number[] | null;
  readonly nodes: NodeFigures;
  /** Use by LoadGen's process in the window; null if not measured. */
  readonly loadgen: MachineUse | null;
  /** True in the last snapshot of a set, whose window may be short. */
  readonly hasEnded: boolean;
}

/**
 * Distributions of a window, by LatencyHistogram bucket, for counters that are summed elsewhere.
 * Latencies are per sample.
 */
export interface WindowCounts {
  readonly latencyCounts: Float64Array;
  readonly latencySumNs: number;
  readonly lagCounts: Float64Array;
  readonly lagSumNs: number;
  /** Sums in ns by part of the latency, over `splitCount` samples. */
  readonly partSumsNs: Float64Array;
  readonly splitCount: number;
}

/** Most points stored; beyond it neighbours are merged, which halves their number. */
export const POINTS_MAX = 1200;

/** Windows below this length in s are short: the end of a set may come right after a look. */
const SHORT_WINDOW_S = 0.5;

/**
 * Snapshots of a run in bounded memory: when there are too many, neighbours are merged, so that a
 * point covers 1, 2, 4, ... seconds. No spike is lost: merging keeps the larger of two percentiles
 * and the time-weighted mean of two rates.
 */
export class SnapshotHistory {
  #points: LiveSnapshot[] = [];
  /** Length of a point, in s. */
  #pointS = 1;
  #latest: LiveSnapshot | null = null;

  get points(): readonly LiveSnapshot[] {
    return this.#points;
  }

  /** Seconds that a point covers. */
  get pointS(): number {
    return this.#pointS;
  }

  /**
   * The newest snapshot unmerged, except a short one at the end of a set, which belongs to the one
   * before. Null without any.
   */
  get latest(): LiveSnapshot | null {
    return this.#latest;
  }

  /** Adds the newest snapshot. */
  add(snapshot: LiveSnapshot): void {
    const before = this.#latest;
    const isRest = before !== null && before.phase === snapshot.phase && isShortEnd(snapshot);
    this.#latest = isRest ? mergeSnapshots(before, snapshot) : snapshot;
    const last = this.#points.at(-1);
    if (last !== undefined && this.#belongsTo(last, snapshot)) {
      this.#points[this.#points.length - 1] = mergeSnapshots(last, snapshot);
      return;
    }
    this.#points.push(snapshot);
    if (this.#points.length > POINTS_MAX) this.#thin();
  }

  /** Copies the content of another history. */
  load(points: readonly LiveSnapshot[], pointS: number, latest: LiveSnapshot | null): void {
    this.#latest = latest;
    this.#points = [...points];
    this.#pointS = pointS;
  }

  #belongsTo(last: LiveSnapshot, next: LiveSnapshot): boolean {
    if (last.phase !== next.phase) return false;
    // Full to within half a look.
    if (last.windowS + next.windowS / 2 < this.#pointS) return true;
    return isShortEnd(next);
  }

  #thin(): void {
    this.#pointS *= 2;
    const merged: LiveSnapshot[] = [];
    for (let i = 0; i < this.#points.length; i += 2) {
      const first = this.#points[i] as LiveSnapshot; // In range.
      const second = this.#points[i + 1];
      if (second === undefined) merged.push(first);
      else if (second.phase !== first.phase) merged.push(first, second);
      else merged.push(mergeSnapshots(first, second));
    }
    this.#points = merged;
  }
}

function isShortEnd({ hasEnded, windowS }: LiveSnapshot): boolean {
  return hasEnded && windowS < SHORT_WINDOW_S;
}

/** Merges two consecutive windows. */
function mergeSnapshots(first: LiveSnapshot, next: LiveSnapshot): LiveSnapshot {
  const windowS = first.windowS + next.windowS;
  const mean = (a: number, b: number): number => (a * first.windowS + b * next.windowS) / windowS;
  return {
    ...next,
    windowS,
    outstanding: Math.max(first.outstanding, next.outstanding),
    issuedPerS:
      first.issuedPerS === null || next.issuedPerS === null
        ? next.issuedPerS
        : mean(first.issuedPerS, next.issuedPerS),
    completedPerS: mean(first.completedPerS, next.completedPerS),
    latency: mergeLatency(first.latency, next.latency),
    lag: largestOf(first.lag, next.lag),
    split: mergeSplit(first, next),
    nodes: mergeNodes(first.nodes, next.nodes, mean),
    loadgen: mergeUse(first.loadgen, next.loadgen, mean),
  };
}

function mergeLatency(a: LatencyFigures | null, b: LatencyFigures | null): LatencyFigures | null {
  const largest = largestOf(a, b);
  return largest && { ...largest, count: (a?.count ?? 0) + (b?.count ?? 0) };
}

/** The larger value of each figure. */
function largestOf<T extends { readonly [K in keyof T]: number }>(
  a: T | null,
  b: T | null,
): T | null {
  if (a === null || b === null) return a ?? b;
  const keys = Object.keys(b) as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, Math.max(a[key], b[key])])) as T;
}

/** Means weighted by their sample counts. */
function mergeSplit(first: LiveSnapshot, next: LiveSnapshot): readonly number[] | null {
  if (first.split === null || next.split === null) return first.split ?? next.split;
  const a = first.latency?.count ?? 1;
  const b = next.latency?.count ?? 1;
  const { split } = next;
  return first.split.map((meanNs, i) => (meanNs * a + (split[i] ?? 0) * b) / (a + b));
}

function mergeNodes(
  a: NodeFigures,
  b: NodeFigures,
  mean: (a: number, b: number) => number,
): NodeFigures {
  return {
    ...b,
    outstanding: b.outstanding.map((count, i) => Math.max(count, a.outstanding[i] ?? 0)),
    completedPerS: b.completedPerS.map((perS, i) => mean(a.completedPerS[i] ?? perS, perS)),
    meanNs: b.meanNs.map((meanNs, i) => meanNs ?? a.meanNs[i] ?? null),
    usage: b.usage.map((usage, i) => mergeUse(a.usage[i], usage, mean)),
  };
}

function mergeUse(
  a: MachineUse | null | undefined,
  b: MachineUse | null | undefined,
  mean: (a: number, b: number) => number,
): MachineUse | null {
  if (!a || !b) return a ?? b ?? null;
  const residentBytes = Math.max(a.residentBytes, b.residentBytes);
  return { cores: mean(a.cores, b.cores), residentBytes };
}
