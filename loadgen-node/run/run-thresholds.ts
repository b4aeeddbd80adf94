import type { RunReport } from './perform-run.ts';

/** True when every threshold of a run is met; without any it is. They change neither LoadGen's verdict nor longhaul's. */
export function meetsThresholds({ summary }: Pick<RunReport, 'summary'>): boolean {
  return summary.thresholds.every(({ isMet }) => isMet);
}
