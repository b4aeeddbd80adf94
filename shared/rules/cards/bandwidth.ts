import type { BandwidthFormula } from '../rows/benchmark-card.ts';

/** The rules' formula for an image of three colours. @param side In pixels. */
export function imageBandwidth(side: number): BandwidthFormula {
  return { input: `3*${side}*${side}*dtype_size`, inputElements: 3 * side * side };
}

/** The rules' formula for a prompt of so many tokens. */
export function tokensBandwidth(count: number): BandwidthFormula {
  return { input: `${count}*dtype_size`, inputElements: count };
}
