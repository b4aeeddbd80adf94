import { clockFactor } from '../../loadgen/recorder/told-times.ts';
import { LATENCY_PARTS } from './latency-parts.ts';

/** Index of the remainder among the parts. */
export const NETWORK: number = LATENCY_PARTS.indexOf('network');
/** Index of the first of the lengths that a SUT node tells, which are neighbours, in the order of `SERVICE_TIMES`. */
export const FIRST_OF_SERVICE: number = NETWORK + 1;
/** Index of the decompression on LoadGen's side, behind the last of the node's lengths. */
export const DECODE: number = LATENCY_PARTS.indexOf('decode');

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
