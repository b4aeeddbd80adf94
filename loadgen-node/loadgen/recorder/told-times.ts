import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';

/**
 * Relative tolerance for durations by a SUT node's clock against LoadGen's: NTP lets the kernel run
 * a clock up to 500 ppm too fast or too slow, on either machine.
 */
const CLOCK_RATE_ERROR = 1e-3;

/** Absolute tolerance, in ns: a clock with µs resolution rounds each of the seven durations. */
const CLOCK_STEP_NS = 10_000;

/** The tolerance as text. */
export const TOLD_TIME_TOLERANCE = '0.1 % and 10 µs';

/**
 * Factor from a SUT node's durations to LoadGen's clock. The node's part of a time span cannot
 * exceed the whole span: an excess within the tolerance comes from the clocks and is scaled away.
 * @param toldNs Sum of the node's durations.
 * @param passedNs Time by LoadGen's clock, from hand-over of the sample to arrival of its
 *   response.
 * @returns 1 if they fit, below 1 within the tolerance, NaN if they are impossible.
 */
export function clockFactor(toldNs: number, passedNs: number): number {
  if (toldNs <= passedNs) return 1;
  if (passedNs > 0 && toldNs <= passedNs * (1 + CLOCK_RATE_ERROR) + CLOCK_STEP_NS) {
    return passedNs / toldNs;
  }
  return Number.NaN;
}

/** Sum of a node's durations, in ns. Hot path. */
export function sumOfTimes(times: ServiceTimes): number {
  return (
    times.receiveNs +
    times.queueNs +
    times.batchWaitNs +
    times.preprocessNs +
    times.computeNs +
    times.postprocessNs +
    times.sendNs
  );
}

/** No sample. */
const NONE = -1;

/** Samples of one node whose reported times exceed the time that passed. */
export interface ExcessTimes {
  readonly node: number;
  count: number;
  /** Samples of the node with reported times. */
  ofCount: number;
  /** The worst sample: reported and passed time, in ns. */
  toldNs: number;
  passedNs: number;
}

/**
 * Counts impossible reported times, by node, over a whole test. Hot path: allocates only at a
 * node's first sample.
 */
export class ToldTimes {
  readonly #nodes: ExcessTimes[] = [];

  /** The sample that was served but is not completed. */
  #sample = NONE;
  #node = 0;
  #toldNs = 0;
  #decodeNs = 0;

  /** Stores the reported times of a sample until {@link completed}. @param sample Any number. */
  served(sample: number, node: number, times: ServiceTimes | undefined, decodeNs: number): void {
    this.#sample = times === undefined ? NONE : sample;
    if (times === undefined) return;
    this.#node = node;
    this.#toldNs = sumOfTimes(times);
    this.#decodeNs = decodeNs;
  }

  /**
   * Compares the last reported times with the time that passed. @param takenNs From hand-over to
   * completion, decoding included.
   */
  completed(sample: number, takenNs: number): void {
    if (sample !== this.#sample) return;
    this.#sample = NONE;
    this.#add(this.#node, this.#toldNs, takenNs - this.#decodeNs);
  }

  #add(node: number, toldNs: number, passedNs: number): void {
    this.#nodes[node] ??= { node, count: 0, ofCount: 0, toldNs: 0, passedNs: 0 };
    const seen = this.#nodes[node];
    seen.ofCount += 1;
    if (!Number.isNaN(clockFactor(toldNs, passedNs))) return;
    seen.count += 1;
    if (seen.count > 1 && toldNs - passedNs <= seen.toldNs - seen.passedNs) return;
    seen.toldNs = toldNs;
    seen.passedNs = passedNs;
  }

  /** Nodes that reported impossible times, in node order. */
  get excess(): readonly Readonly<ExcessTimes>[] {
    return this.#nodes.filter((seen) => seen !== undefined && seen.count > 0);
  }
}
