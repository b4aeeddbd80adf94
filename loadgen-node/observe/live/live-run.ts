import type { RunProgress } from '../../loadgen/engine/test-outcome.ts';
import { lagFigures, latencyFigures } from '../figures/figures.ts';
import { LatencyHistogram } from '../figures/latency-histogram.ts';
import {
  addTotals,
  type LagFigures,
  type LatencyFigures,
  type LiveSnapshot,
  type LiveTotals,
  NO_TOTALS,
  type NodeFigures,
  type WindowCounts,
} from './live-snapshot.ts';
import { LiveStatistics } from './live-statistics.ts';
import { estimateProgress } from './progress-estimate.ts';

/** What a SUT tells of one of its nodes when somebody looks. */
export interface NodeNow {
  readonly outstandingSamples: number;
  /** Since the run began. */
  readonly completedSamples: number;
  readonly failedSamples: number;
  readonly isLost: boolean;
}

/** Windows shorter than this have no rates worth telling. */
const WINDOW_NS_MIN = 1e6;

/**
 * Live figures of one run: {@link LiveStatistics} is fed on the timed path, and each look makes a snapshot and begins a new
 * window. A look takes some 20 µs.
 */
export class LiveRun {
  /** To be fed by the engine. */
  readonly statistics: LiveStatistics;
  readonly #overall = new LatencyHistogram();
  /** Of the sets that have ended. */
  #before: LiveTotals = NO_TOTALS;
  #lastElapsedNs = 0;
  #last: LiveTotals = NO_TOTALS;
  #nodeCompleted: number[] = [];
  #isNewSet = true;
  #overallOf = '';

  constructor(nodeCount: number) {
    this.statistics = new LiveStatistics(nodeCount);
  }

  /**
   * The run now, and what happened since the look before.
   * @param atS Moment, in seconds of the process's clock.
   * @param onLook Takes the snapshot with the distributions of its window; those are valid during the call only.
   */
  look(
    progress: RunProgress,
    nodes: readonly NodeNow[],
    atS: number,
    onLook?: (snapshot: LiveSnapshot, counts: WindowCounts) => void,
  ): LiveSnapshot {
    const { goal, phase } = progress;
    if (this.#isNewSet) this.#beginSet(progress);
    const windowS = Math.max(progress.elapsedNs - this.#lastElapsedNs, WINDOW_NS_MIN) / 1e9;
    const totals = addTotals(this.#before, progress);
    const { figures } = this.statistics;
    const latency = figures.latencyOf(goal.scenario);
    this.#overall.addAll(latency);
    const isByQuery = goal.scenario !== 'Offline';
    const perRate = isByQuery ? goal.samplesPerQuery : 1;
    const completed = totals.completedSamples - this.#last.completedSamples;
    const issued = totals.issuedQueries - this.#last.issuedQueries;
    const snapshot: LiveSnapshot = {
      atS,
      windowS,
      phase,
      set: { index: progress.setIndex, count: progress.setCount },
      elapsedS: progress.elapsedNs / 1e9,
      ...estimateProgress(progress),
      plannedQueries: progress.generatedQueries,
      issuedQueriesOfSet: progress.issuedQueries,
      completedSamplesOfSet: progress.completedSamples,
      totals,
      outstanding: progress.issuedSamples - progress.completedSamples - progress.lostSamples,
      rateUnit: isByQuery ? 'queries' : 'samples',
      issuedPerS: isByQuery ? issued / windowS : null,
      completedPerS: completed / perRate / windowS,
      targetPerS: goal.targetQps > 0 ? goal.targetQps : null,
      bound:
        goal.latencyBoundNs > 0
          ? { latencyNs: goal.latencyBoundNs, percentile: goal.percentile }
          : null,
      latency: liveLatency(latency),
      overall: liveLatency(this.#overall),
      // Elsewhere a query is due when it is issued.
      lag: goal.targetQps > 0 ? liveLag(figures.lag) : null,
      split: this.#split(),
      nodes: this.#nodes(nodes, windowS),
      hasEnded: progress.hasEnded,
    };
    onLook?.(snapshot, this.#counts());
    this.#endWindow(progress, totals);
    return snapshot;
  }

  /** Parts of one run under the same load are one distribution; another phase or load begins a new one. */
  #beginSet({ phase, goal }: RunProgress): void {
    this.#isNewSet = false;
    const load = `${phase} ${goal.targetQps}`;
    if (load !== this.#overallOf) this.#overall.clear();
    this.#overallOf = load;
  }

  #split(): number[] | null {
    const { splitCount, partSumsNs } = this.statistics;
    return splitCount === 0 ? null : Array.from(partSumsNs, (sumNs) => sumNs / splitCount);
  }

  #nodes(nodes: readonly NodeNow[], windowS: number): NodeFigures {
    const { nodeSumsNs, nodeCounts } = this.statistics;
    const figures = {
      outstanding: nodes.map((node) => node.outstandingSamples),
      completedPerS: nodes.map(
        ({ completedSamples }, i) => (completedSamples - (this.#nodeCompleted[i] ?? 0)) / windowS,
      ),
      meanNs: nodes.map((_, i) => {
        const count = nodeCounts[i] ?? 0;
        return count === 0 ? null : (nodeSumsNs[i] as number) / count;
      }),
      failed: nodes.map((node) => node.failedSamples),
      lost: nodes.flatMap(({ isLost }, i) => (isLost ? [i] : [])),
    };
    this.#nodeCompleted = nodes.map((node) => node.completedSamples);
    return figures;
  }

  #counts(): WindowCounts {
    const { figures, partSumsNs, splitCount } = this.statistics;
    const { sampleLatency, lag } = figures;
    return {
      latencyCounts: sampleLatency.counts,
      latencySumNs: sampleLatency.sumNs,
      lagCounts: lag.counts,
      lagSumNs: lag.sumNs,
      partSumsNs,
      splitCount,
    };
  }

  #endWindow(progress: RunProgress, totals: LiveTotals): void {
    this.statistics.clear();
    this.#last = totals;
    this.#lastElapsedNs = progress.elapsedNs;
    if (!progress.hasEnded) return;
    this.#before = totals;
    this.#lastElapsedNs = 0;
    this.#isNewSet = true;
  }
}

function liveLatency(histogram: LatencyHistogram): LatencyFigures | null {
  const { count } = histogram;
  if (count === 0) return null;
  const { p50, p90, p99, 'p99.9': p999, max } = latencyFigures(histogram);
  return { count, p50Ns: p50, p90Ns: p90, p99Ns: p99, p999Ns: p999, maxNs: max };
}

function liveLag(histogram: LatencyHistogram): LagFigures | null {
  if (histogram.count === 0) return null;
  const { lag_p50, lag_p99, lag_max } = lagFigures(histogram);
  return { p50Ns: lag_p50, p99Ns: lag_p99, maxNs: lag_max };
}
