import type { NetworkAudit } from '../../observe/audit/network-audit.ts';

/** What both ends counted of a run, all nodes together; undefined where nobody did. */
export function wireCounts(audit: NetworkAudit | undefined) {
  const ours = (audit?.nodes ?? []).map((node) => node.ours);
  const sum = (key: 'sampleCount' | 'payloadBytes' | 'completedCount' | 'responseBytes'): number =>
    ours.reduce((total, counts) => total + counts[key], 0);
  const samples = sum('sampleCount');
  if (samples === 0) return undefined;
  return {
    samples,
    payloadBytes: sum('payloadBytes'),
    responses: sum('completedCount'),
    responseBytes: sum('responseBytes'),
    /** Share of the samples that the busiest node took, from 0 to 1. */
    largestShare: Math.max(...ours.map(({ sampleCount }) => sampleCount)) / samples,
  };
}
