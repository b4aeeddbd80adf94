import { z } from 'zod';
import type { DeepReadonly } from '../../../shared/base/types/deep-readonly.ts';
import { clockFactor } from '../../loadgen/recorder/told-times.ts';
import { LATENCY_PARTS } from './latency-parts.ts';

const ns = z.number().describe('ns');

/** Where the time of a run went. */
export const LATENCY_SPLIT = z.strictObject({
  // Samples whose parts are all known and possible; the others are in none of the figures. MultiStream: of each query the
  // sample that came last.
  sampleCount: z.number(),
  parts: z.array(
    z.strictObject({
      part: z.enum(LATENCY_PARTS),
      // Over all samples; never negative.
      meanNs: ns,
      // Over the samples whose latency lies around the median (40th to 60th percentile).
      typicalNs: ns,
      // Over the slowest samples (1 %, one at least).
      tailNs: ns,
    }),
  ),
  // From typical to tail.
  growsMost: z.enum(LATENCY_PARTS),
  // What limits the run, in whole sentences for people.
  text: z.string(),
});

export type LatencySplit = DeepReadonly<z.infer<typeof LATENCY_SPLIT>>;

/** Means of a part over many samples. */
export type PartFigures = LatencySplit['parts'][number];

/** Index of the remainder among the parts. */
export const NETWORK = LATENCY_PARTS.indexOf('network');
/** Index of the first of the lengths that a SUT node tells, which are neighbours, in the order of `SERVICE_TIMES`. */
export const FIRST_OF_SERVICE = NETWORK + 1;
/** Index of the decompression on LoadGen's side, behind the last of the node's lengths. */
export const DECODE = LATENCY_PARTS.indexOf('decode');

/**
 * Makes the remainder, where all other parts are there. A node's lengths that are longer than what passed only by the
 * tolerance of clocks are made to fit; then `network` is 0.
 * @param parts In ns, in the order of {@link LATENCY_PARTS}; `network` is set so that their sum is the latency. It is
 *   below 0 only where the node told more time than passed: such a sample's parts say nothing.
 * @returns The latency; NaN where it, or a part, is not known.
 */
export function closeParts(parts: Float64Array, latencyNs: number): number {
  let toldNs = 0;
  for (let i = FIRST_OF_SERVICE; i < DECODE; i += 1) toldNs += parts[i] as number;
  let ownNs = parts[DECODE] as number;
  for (let i = 0; i < NETWORK; i += 1) ownNs += parts[i] as number;
  const passedNs = latencyNs - ownNs;
  parts[NETWORK] = passedNs - toldNs;
  if (Number.isNaN(passedNs - toldNs)) return Number.NaN;
  if (toldNs > passedNs) fitTimes(parts, clockFactor(toldNs, passedNs));
  return latencyNs;
}

function fitTimes(parts: Float64Array, factor: number): void {
  if (Number.isNaN(factor)) return;
  for (let i = FIRST_OF_SERVICE; i < DECODE; i += 1) parts[i] = (parts[i] as number) * factor;
  parts[NETWORK] = 0;
}

/** Sums of latency and parts over some samples. */
export class PartSums {
  count = 0;
  #latencyNs = 0;
  readonly #partsNs = new Float64Array(LATENCY_PARTS.length);

  /** @param partsNs In the order of {@link LATENCY_PARTS}. */
  add(partsNs: Float64Array, latencyNs: number): void {
    this.count += 1;
    this.#latencyNs += latencyNs;
    const sums = this.#partsNs;
    for (let i = 0; i < sums.length; i += 1) sums[i] = (sums[i] as number) + (partsNs[i] as number);
  }

  /** Mean of a part by its index, in ns; NaN of nothing. */
  meanOf(index: number): number {
    return (this.#partsNs[index] as number) / this.count;
  }

  get meanLatencyNs(): number {
    return this.#latencyNs / this.count;
  }
}

/** What one SUT node's samples took. */
export interface NodeTimes {
  /** Number of the node. */
  readonly index: number;
  readonly sums: PartSums;
  /** Its samples among the slowest of the run. */
  tailCount: number;
}

/** All that a split says of a run beside its table. */
export interface SplitFindings {
  readonly all: PartSums;
  readonly typical: PartSums;
  readonly tail: PartSums;
  readonly nodes: readonly NodeTimes[];
  /** Samples that were lost or whose node told no times. */
  readonly unknownCount: number;
  /** Offline. */
  readonly isAllAtOnce: boolean;
  /** MultiStream: a query counts once, by the sample that came last. */
  readonly isOfQueries: boolean;
  /** Samples that are left out because their node told more time than passed, and the worst remainder in ns. */
  readonly overtold: { readonly count: number; readonly leastNs: number };
}
