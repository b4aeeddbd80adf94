import { flagText } from '../../../run/plan/flag-text.ts';
import type { SubmittedRun } from '../plan/read-run.ts';

/** Where a run wrote its logs, and what its user wished to see or keep, say nothing about how it is made again. */
const LEFT_OUT = new Set(['output', 'cacheDir', 'thresholds', 'records', 'report']);

/**
 * The command line that makes a run again, from the settings that were said. Undefined for a run of another
 * LoadGen, which leaves its settings in its log only.
 * @param output Folder for the logs.
 */
export function runCommandOf({ settings }: SubmittedRun, output: string): string | undefined {
  if (settings === undefined) return undefined;
  const flags = Object.entries(settings)
    .filter(([key, value]) => !LEFT_OUT.has(key) && value !== null && value !== false)
    .map(([key, value]) => flagText(key, value));
  return ['longhaul run', ...flags, `--output ${output}`].join(' \\\n  ');
}
