import type { ServiceTimes } from '../../../shared/domain/system-under-test.ts';

/**
 * Share by which lengths by a SUT node's clock may exceed the same time by LoadGen's: NTP lets the kernel run a clock up to
 * 500 ppm too fast or too slow, on either machine.
 */
const CLOCK_RATE_ERROR = 1e-3;

/** And by this much in all, in ns: a clock that tells microseconds rounds each of the seven lengths. */
const CLOCK_STEP_NS = 10_000;

/** The tolerance in words. */
export const TOLD_TIME_TOLERANCE = '0.1 % and 10 µs';

/**
 * Factor from lengths of time by a SUT node's clock to LoadGen's. Both ends measure one stretch of time, so the node's part of
 * it is never longer: what is more within the tolerance is the clocks' and taken off evenly.
 * @param toldNs Sum of the node's lengths.
 * @param passedNs By LoadGen's clock, from the hand-over of the sample until its response had arrived.
 * @returns 1 where they fit, below 1 within the tolerance, NaN where they cannot be.
 */
export function clockFactor(toldNs: number, passedNs: number): number {
  if (toldNs <= passedNs) return 1;
  if (passedNs > 0 && toldNs <= passedNs * (1 + CLOCK_RATE_ERROR) + CLOCK_STEP_NS) {
    return passedNs / toldNs;
  }
  return Number.NaN;
}

/** Sum of a node's lengths, in ns. Hot path. */
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

/** Samples of one node whose told times do not fit into the time that passed. */
export interface ExcessTimes {
  readonly node: number;
  count: number;
  /** Samples of the node that came with times. */
  ofCount: number;
  /** The worst: what was told and what passed, in ns. */
  toldNs: number;
  passedNs: number;
}

/** Counts impossible reported times, by node, over a whole test. Hot path: allocates only at a node's first sample. */
export class ToldTimes {
  readonly #nodes: ExcessTimes[] = [];

  /** The sample that was served and is not completed. */
  #sample = NONE;
  #node = 0;
  #toldNs = 0;
  #decodeNs = 0;

  /** Keeps what was told of a sample until {@link completed}. @param sample Any number. */
  served(sample: number, node: number, times: ServiceTimes | undefined, decodeNs: number): void {
    this.#sample = times === undefined ? NONE : sample;
    if (times === undefined) return;
    this.#node = node;
    this.#toldNs = sumOfTimes(times);
    this.#decodeNs = decodeNs;
  }

  /** Holds what was told last against what passed. @param takenNs From hand-over to completion, decoding included. */
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

  /** The nodes that told too much, in their order. */
  get excess(): readonly Readonly<ExcessTimes>[] {
    return this.#nodes.filter((seen) => seen !== undefined && seen.count > 0);
  }
}
