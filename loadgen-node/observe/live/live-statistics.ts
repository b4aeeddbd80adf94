import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';
import type { SampleWatch } from '../../loadgen/recorder/recording.ts';
import { clockFactor, sumOfTimes } from '../../loadgen/recorder/told-times.ts';
import { Figures } from '../figures/figures.ts';
import { LatencyHistogram } from '../figures/latency-histogram.ts';
import { LATENCY_PARTS } from '../split/latency-parts.ts';

const PART_COUNT = LATENCY_PARTS.length;
const NETWORK = LATENCY_PARTS.indexOf('network');

/** Nodes whose latencies are told apart; more share the last place. */
const NODES_MAX = 4096;

/**
 * What happened since somebody last looked: histograms and sums, in arrays that are taken once. Hot path: it is fed inside
 * the timed region, some 26 ns of CPU a sample (docs/live-view.md), and only where somebody looks.
 */
export class LiveStatistics implements SampleWatch {
  readonly figures: Figures<LatencyHistogram> = new Figures(() => new LatencyHistogram());
  /** Sums in ns by part of the latency, over the samples whose node told times that can be. */
  readonly partSumsNs: Float64Array = new Float64Array(PART_COUNT);
  /** Samples in {@link partSumsNs}. */
  splitCount = 0;
  /** Sums of latencies in ns, and samples, by number of the node. */
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

  /** A new window begins. */
  clear(): void {
    this.figures.clear();
    this.partSumsNs.fill(0);
    this.splitCount = 0;
    this.nodeSumsNs.fill(0);
    this.nodeCounts.fill(0);
  }

  /** In the order of LATENCY_PARTS; what is left of the latency is the network. Told times that cannot be are left out. */
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
