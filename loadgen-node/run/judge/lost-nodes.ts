import type { DispatchSettings, QueryDispatchLibrary } from '../../../qdl/index.ts';
import type { AuditFinding } from '../../observe/network-audit.ts';

/**
 * Notes on lost nodes. If a lost node ends the run, the fault names it; if the run goes on, it may
 * lose no sample.
 */
export function lostNodeNotes(
  onNodeLoss: DispatchSettings['onNodeLoss'],
  qdl: Pick<QueryDispatchLibrary, 'nodes' | 'activity'>,
): string[] {
  const lost = lostNodes(onNodeLoss, qdl);
  return qdl.nodes.flatMap(({ address, ledger: { sampleCount, completedCount } }) =>
    lost.includes(address)
      ? [
          `SUT node ${address} was lost in the middle of the run, or shut down; it had answered ${completedCount} of ${sampleCount} samples, and the run went on without it`,
        ]
      : [],
  );
}

/**
 * Addresses of nodes that were lost while the run went on; the note on their loss also covers their
 * silence at the end.
 */
export function lostNodes(
  onNodeLoss: DispatchSettings['onNodeLoss'],
  qdl: Pick<QueryDispatchLibrary, 'nodes' | 'activity'>,
): string[] {
  if (onNodeLoss !== 'continue') return [];
  const states = qdl.activity();
  return qdl.nodes.flatMap(({ address }, i) => (states[i]?.isLost === true ? [address] : []));
}

/** True for a finding that only states that lost nodes did not answer. */
export function isOfLost({ evidence }: AuditFinding, lost: readonly string[]): boolean {
  const isLost = (text: string): boolean => lost.some((address) => text.includes(address));
  return evidence.length > 0 && evidence.every(isLost);
}
