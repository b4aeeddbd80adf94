import type { RunReport } from './perform-run.ts';

/** The result of a run for programs, what `longhaul run --json` prints: longhaul_summary.json, and where it lies. */
export function runDocument({ summary, plan }: RunReport): object {
  return { ...summary, folder: plan.output };
}
