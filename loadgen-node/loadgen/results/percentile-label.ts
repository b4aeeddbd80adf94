import { formatFixed } from './number-format.ts';

/** A percentile as the logs write it: `99` or `99.0` (target), `99.00` (the fixed ones). */
export function percentileLabel(percentile: number, decimals: 0 | 1 | 2): string {
  return formatFixed(percentile * 100, decimals);
}
