import type { LatencyFigures, LiveSnapshot, NodeFigures } from './live-snapshot.ts';

/** Points that are kept; then neighbours are merged, and half of them are left. */
export const POINTS_MAX = 1200;

/** The end of a set may come right after a look; seconds. */
const SHORT_WINDOW_S = 0.5;

/**
 * Snapshots of a run in bounded memory: when there are too many, neighbours become one, so that a point covers 1, 2, 4, ...
 * seconds. No spike is lost: of two percentiles the larger one stays, of two rates their mean over the time.
 */
export class SnapshotHistory {
  #points: LiveSnapshot[] = [];
  /** What a point should cover. */
  #pointS = 1;
  #latest: LiveSnapshot | null = null;

  get points(): readonly LiveSnapshot[] {
    return this.#points;
  }

  /** Seconds that a point covers. */
  get pointS(): number {
    return this.#pointS;
  }

  /** The newest one, as it came, but for a short one at the end of a set: that belongs to the one before. Null without any. */
  get latest(): LiveSnapshot | null {
    return this.#latest;
  }

  /** Adds the newest one. */
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

  /** Takes over what another history has. */
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

/** Two windows that follow one another as one. */
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
  };
}

function mergeLatency(a: LatencyFigures | null, b: LatencyFigures | null): LatencyFigures | null {
  const largest = largestOf(a, b);
  return largest && { ...largest, count: (a?.count ?? 0) + (b?.count ?? 0) };
}

/** The larger of each two figures. */
function largestOf<T extends { readonly [K in keyof T]: number }>(
  a: T | null,
  b: T | null,
): T | null {
  if (a === null || b === null) return a ?? b;
  const keys = Object.keys(b) as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, Math.max(a[key], b[key])])) as T;
}

/** Weighted by the samples that the means are of. */
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
  };
}
