import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import type { RunProgress } from '../../loadgen/engine/test-outcome.ts';
import type { SampleWatch } from '../../loadgen/recorder/recording.ts';
import { clockFactor, sumOfTimes } from '../../loadgen/recorder/told-times.ts';
import { GrowthWatch } from '../../loadgen/results/queue-growth.ts';
import { Figures } from '../figures/figures.ts';
import { LatencyHistogram } from '../figures/latency-histogram.ts';
import { lagFigures, latencyFigures } from '../figures/named-figures.ts';
import { LATENCY_PARTS } from '../split/latency-parts.ts';
import {
  addTotals,
  type LagFigures,
  type LatencyFigures,
  type LiveSnapshot,
  type LiveTotals,
  type MachineUse,
  NO_TOTALS,
  type NodeFigures,
  type WindowCounts,
} from './live-snapshot.ts';

/** Current state of one SUT node. */
interface NodeNow {
  readonly outstandingSamples: number;
  /** Samples completed since the run began. */
  readonly completedSamples: number;
  readonly failedSamples: number;
  readonly isLost: boolean;
  /** Its last machine report; undefined without one. */
  readonly usage?: MachineUse | undefined;
}

/** Shortest window with useful rates, in ns. */
const WINDOW_NS_MIN = 1e6;

/**
 * Live figures of one run: the timed path feeds {@link LiveStatistics}; each look makes a snapshot
 * and starts a new window. A look takes about 20 µs.
 */
export class LiveRun {
  /** Fed by the engine. */
  readonly statistics: LiveStatistics;
  readonly #loadgenUse: (() => MachineUse) | undefined;
  readonly #overall = new LatencyHistogram();
  readonly #overallLag = new LatencyHistogram();
  #growth = new GrowthWatch();
  /** Totals of completed sets. */
  #before: LiveTotals = NO_TOTALS;
  #lastElapsedNs = 0;
  #last: LiveTotals = NO_TOTALS;
  #nodeCompleted: number[] = [];
  #isNewSet = true;
  #overallOf = '';

  /** @param loadgenUse Reports LoadGen's CPU and memory use since the last call. */
  constructor(nodeCount: number, loadgenUse?: () => MachineUse) {
    this.#loadgenUse = loadgenUse;
    this.statistics = new LiveStatistics(nodeCount);
  }

  /**
   * Snapshot of the run, with the window since the last look.
   * @param atS Current time, in seconds of the process's clock.
   * @param onLook Receives the snapshot and the distributions of its window, which are valid only
   *   during the call.
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
    this.#overallLag.addAll(figures.lag);
    const outstanding = progress.issuedSamples - progress.completedSamples - progress.lostSamples;
    // After the last query fewer and fewer wait.
    if (progress.elapsedNs <= goal.lastDueNs) this.#growth.add(outstanding, windowS * 1e9);
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
      decision: decisionOf(progress),
      plannedQueries:
        goal.minDurationNs > 0 || goal.minQueryCount > 0 ? null : progress.generatedQueries,
      issuedQueriesOfSet: progress.issuedQueries,
      completedSamplesOfSet: progress.completedSamples,
      totals,
      outstanding,
      rateUnit: isByQuery ? 'queries' : 'samples',
      issuedPerS: isByQuery ? issued / windowS : null,
      completedPerS: completed / perRate / windowS,
      targetPerS: goal.targetQps > 0 ? progress.dueQps : null,
      bound:
        goal.latencyBoundNs > 0
          ? { latencyNs: goal.latencyBoundNs, percentile: goal.percentile }
          : null,
      latency: liveLatency(latency),
      overall: liveLatency(this.#overall),
      overShare:
        goal.latencyBoundNs > 0 && this.#overall.count > 0
          ? this.#overall.shareAbove(goal.latencyBoundNs)
          : null,
      // In other scenarios a query is due when it is issued.
      lag: goal.targetQps > 0 ? liveLag(figures.lag) : null,
      lagSoFar: goal.lagNsMax > 0 ? liveLag(this.#overallLag) : null,
      lagNsMax: goal.lagNsMax,
      growth: goal.hasOneRate ? this.#growth.sureGrowth(goal.targetQps, this.#typicalNs()) : null,
      split: this.#split(),
      nodes: this.#nodes(nodes, windowS),
      loadgen: this.#loadgenUse?.() ?? null,
      hasEnded: progress.hasEnded,
    };
    onLook?.(snapshot, this.#counts());
    this.#endWindow(progress, totals);
    return snapshot;
  }

  /**
   * Starts a set. Parts of one run at the same load share a distribution; another phase or load
   * starts a new one.
   */
  #beginSet({ phase, goal }: RunProgress): void {
    this.#isNewSet = false;
    const load = `${phase} ${goal.targetQps}`;
    // Each set starts with an empty queue.
    this.#growth = new GrowthWatch();
    if (load !== this.#overallOf) {
      this.#overall.clear();
      this.#overallLag.clear();
    }
    this.#overallOf = load;
  }

  #typicalNs(): number {
    return this.#overall.count === 0 ? Number.POSITIVE_INFINITY : this.#overall.percentileNs(0.5);
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
      usage: nodes.map(({ usage }) =>
        usage === undefined ? null : { cores: usage.cores, residentBytes: usage.residentBytes },
      ),
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

const PART_COUNT = LATENCY_PARTS.length;
const NETWORK = LATENCY_PARTS.indexOf('network');

/** Nodes with their own latencies; further nodes share the last place. */
const NODES_MAX = 4096;

/**
 * Histograms and sums since the last look, in arrays allocated once. Hot path: fed inside the timed
 * region, about 26 ns of CPU per sample (docs/measure.md), and only with a live view.
 */
class LiveStatistics implements SampleWatch {
  readonly figures: Figures<LatencyHistogram> = new Figures(() => new LatencyHistogram());
  /** Sums in ns by part of the latency, over samples whose node reported possible times. */
  readonly partSumsNs: Float64Array = new Float64Array(PART_COUNT);
  /** Samples in {@link partSumsNs}. */
  splitCount = 0;
  /** Sums of latencies in ns, and sample counts, by node number. */
  readonly nodeSumsNs: Float64Array;
  readonly nodeCounts: Float64Array;

  #hasServed = false;
  #node = 0;
  #times: ServiceTimes | undefined = undefined;
  #decodeNs = 0;
  #lagNs = 0;
  #sendNs = 0;

  constructor(nodeCount: number) {
    const count = Math.min(Math.max(nodeCount, 1), NODES_MAX);
    this.nodeSumsNs = new Float64Array(count);
    this.nodeCounts = new Float64Array(count);
  }

  issued(lagNs: number, samples: number): void {
    this.figures.issued(lagNs, samples);
  }

  served(
    node: number,
    times: ServiceTimes | undefined,
    decodeNs: number,
    lagNs: number,
    sendNs: number,
  ): void {
    this.#hasServed = true;
    this.#node = node;
    this.#times = times;
    this.#decodeNs = decodeNs;
    this.#lagNs = lagNs;
    this.#sendNs = sendNs;
  }

  completed(latencyNs: number): void {
    this.figures.completed(latencyNs);
    if (!this.#hasServed) return;
    this.#hasServed = false;
    const node = Math.min(this.#node, this.nodeCounts.length - 1);
    this.nodeSumsNs[node] = (this.nodeSumsNs[node] as number) + latencyNs; // In range.
    this.nodeCounts[node] = (this.nodeCounts[node] as number) + 1;
    if (this.#times !== undefined) this.#addParts(this.#times, latencyNs);
  }

  /** Starts a new window. */
  clear(): void {
    this.figures.clear();
    this.partSumsNs.fill(0);
    this.splitCount = 0;
    this.nodeSumsNs.fill(0);
    this.nodeCounts.fill(0);
  }

  /**
   * Adds times in the order of LATENCY_PARTS; the rest of the latency is the network. Impossible
   * reported times are ignored.
   */
  #addParts(times: ServiceTimes, latencyNs: number): void {
    const passedNs = latencyNs - this.#lagNs - this.#sendNs - this.#decodeNs;
    const toldNs = sumOfTimes(times);
    const factor = clockFactor(toldNs, passedNs);
    if (Number.isNaN(factor)) return;
    const sums = this.partSumsNs;
    this.splitCount += 1;
    sums[0] = (sums[0] as number) + this.#lagNs;
    sums[1] = (sums[1] as number) + this.#sendNs;
    sums[NETWORK] = (sums[NETWORK] as number) + Math.max(0, passedNs - toldNs);
    sums[3] = (sums[3] as number) + factor * times.receiveNs;
    sums[4] = (sums[4] as number) + factor * times.queueNs;
    sums[5] = (sums[5] as number) + factor * times.batchWaitNs;
    sums[6] = (sums[6] as number) + factor * times.preprocessNs;
    sums[7] = (sums[7] as number) + factor * times.computeNs;
    sums[8] = (sums[8] as number) + factor * times.postprocessNs;
    sums[9] = (sums[9] as number) + factor * times.sendNs;
    sums[10] = (sums[10] as number) + this.#decodeNs;
  }
}

/**
 * Estimates the progress of a phase. Server ends by its schedule; SingleStream and MultiStream by
 * time and count; others by the samples of their sets, assuming equal time per sample.
 */
export function estimateProgress(progress: RunProgress) {
  const inSet = shareOfSet(progress);
  const { setIndex, setCount, hasEnded, elapsedNs, phase, samplesBefore, samplesOfAll } = progress;
  const isLast = setIndex + 1 >= setCount;
  if (hasEnded && isLast) return { share: 1, remainingS: 0 };
  if (Number.isNaN(inSet)) return { share: null, remainingS: null };
  const elapsedS = elapsedNs / 1e9;
  if (phase === 'performance') {
    const share = Math.min(1, inSet);
    return { share, remainingS: inSet > 0 ? (elapsedS / inSet) * (1 - inSet) : null };
  }
  // Sets differ in size: the last one has the rest of the data set.
  const done = progress.completedSamples + progress.lostSamples;
  const left = Math.max(0, samplesOfAll - samplesBefore - done);
  const share = Math.min(1, (samplesBefore + done) / samplesOfAll);
  return { share, remainingS: done > 0 ? (elapsedS / done) * left : null };
}

/** Undefined once there are enough queries for early stopping to decide. */
function decisionOf(progress: RunProgress): LiveSnapshot['decision'] {
  const { goal, completedSamples, elapsedNs } = progress;
  if (goal.decision === undefined) return undefined;
  const { neededQueries, earlierQueries } = goal.decision;
  const ofSet = Math.floor(completedSamples / goal.samplesPerQuery);
  const queries = earlierQueries + ofSet;
  if (queries >= neededQueries) return undefined;
  // The schedule gives their due times; without one they are assumed to come at the previous rate,
  // unknown before the first.
  if (goal.lastDueNs === 0 && ofSet === 0) return { neededQueries, queries, isInTime: null };
  const neededNs = goal.lastDueNs || (elapsedNs * (neededQueries - earlierQueries)) / ofSet;
  const isInTime = goal.maxDurationNs === 0 || neededNs <= goal.maxDurationNs;
  return { neededQueries, queries, isInTime };
}

/** Share done, 0 to 1; NaN if unknown. */
function shareOfSet(progress: RunProgress): number {
  const { goal, elapsedNs, issuedQueries, generatedQueries, completedSamples, lostSamples } =
    progress;
  if (progress.hasEnded) return 1;
  const ends: number[] = [];
  if (goal.maxDurationNs > 0) ends.push(elapsedNs / goal.maxDurationNs);
  if (goal.maxQueryCount > 0) ends.push(issuedQueries / goal.maxQueryCount);
  if (goal.lastDueNs > 0) {
    ends.push(elapsedNs / goal.lastDueNs);
  } else if (goal.minQueryCount > 0) {
    const inTime = goal.minDurationNs > 0 ? elapsedNs / goal.minDurationNs : 1;
    ends.push(Math.min(inTime, issuedQueries / goal.minQueryCount));
  } else {
    const samples = generatedQueries * goal.samplesPerQuery;
    ends.push((completedSamples + lostSamples) / samples);
  }
  return Math.min(1, Math.max(...ends));
}
