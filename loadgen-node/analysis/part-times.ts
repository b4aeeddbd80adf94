import { LATENCY_PARTS } from './latency-parts.ts';

/** Index of the remainder among the parts. */
export const NETWORK: number = LATENCY_PARTS.indexOf('network');
/** Index of the first of the lengths that a SUT node tells, which are neighbours, in the order of `SERVICE_TIMES`. */
export const FIRST_OF_SERVICE: number = NETWORK + 1;
/** Index of the decompression on LoadGen's side. */
export const DECODE: number = LATENCY_PARTS.indexOf('decode');

/**
 * Share of the latency by which told times may exceed it through their rounding alone: seven float32 numbers, each off
 * by 2^-24 of itself at most.
 */
const ROUNDING = 2 ** -21;

/**
 * Makes the remainder, where all other parts are there.
 * @param parts In ns, in the order of {@link LATENCY_PARTS}; `network` is set so that their sum is the latency.
 * @returns The latency; NaN where it, or a part, is not known.
 */
export function closeParts(parts: Float64Array, latencyNs: number): number {
  parts[NETWORK] = 0;
  let toldNs = 0;
  for (let i = 0; i < parts.length; i += 1) toldNs += parts[i] as number;
  parts[NETWORK] = latencyNs - toldNs;
  return Number.isNaN(toldNs) ? Number.NaN : latencyNs;
}

/** True where more time was told than passed, beyond what rounding makes of it. */
export function isOvertold(networkNs: number, latencyNs: number): boolean {
  return networkNs < -Math.max(1, latencyNs * ROUNDING);
}
