import type { BoundName } from '../../loadgen/settings/query-bounds.ts';
import { BACKLOG_GREW, type LoadSearch, type PeakProbe } from './peak-search.ts';

/** Bounds that more of a probe's queries exceed than allowed. */
export function missedIn({ percentile }: LoadSearch, { bounds, queries }: PeakProbe): BoundName[] {
  return bounds
    .filter(({ overQueries }) => overQueries > (1 - percentile) * queries)
    .map(({ name }) => name);
}

/**
 * The probe that explains the limit: of those above the peak the nearest that missed a limiting
 * bound, by its queries or by its growing queue. Runs with too few queries for their verdict (early
 * stopping), or with a LoadGen that was too slow, do not explain it. Without such a probe, the last
 * one that kept the bounds.
 */
export function tellingProbe(
  search: LoadSearch,
  probes: readonly PeakProbe[],
  limitedBy: readonly BoundName[],
): PeakProbe | undefined {
  const kept = probes.filter(({ verdict }) => verdict === 'keeps');
  const peak = Math.max(0, ...kept.map(({ load }) => load));
  const last = probes.toReversed().filter(({ explanation }) => explanation !== null);
  const isMiss = (probe: PeakProbe): boolean =>
    probe.growth !== null ||
    probe.why === BACKLOG_GREW ||
    missedIn(search, probe).some((name) => limitedBy.includes(name));
  const missed = last.filter(
    (probe) =>
      !['keeps', 'generator-bound'].includes(probe.verdict) && probe.load > peak && isMiss(probe),
  );
  return (
    missed.sort((a, b) => a.load - b.load)[0] ?? last.find(({ verdict }) => verdict === 'keeps')
  );
}

/** Where the times of the limiting bounds went. */
export function explanationOf(
  { bounds, explanation }: PeakProbe,
  limitedBy: readonly BoundName[],
): string | null {
  const own = bounds.flatMap(({ name, explanation: one }) =>
    limitedBy.includes(name) ? (one ?? []) : [],
  );
  return own.length === 0 ? explanation : own.join(' ');
}
