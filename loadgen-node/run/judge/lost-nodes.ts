import type { DispatchSettings, QueryDispatchLibrary } from '../../../qdl/index.ts';
import type { AuditFinding } from '../../observe/network-audit.ts';

/** Where a lost node ends the run, the fault names it; where it does not, no sample need be lost with it. */
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

/** Addresses of nodes without which the run went on: that they answer nothing at its end is told with that. */
export function lostNodes(
  onNodeLoss: DispatchSettings['onNodeLoss'],
  qdl: Pick<QueryDispatchLibrary, 'nodes' | 'activity'>,
): string[] {
  if (onNodeLoss !== 'continue') return [];
  const states = qdl.activity();
  return qdl.nodes.flatMap(({ address }, i) => (states[i]?.isLost === true ? [address] : []));
}

/** A finding that says of nothing but lost nodes that they did not answer. */
export function isOfLost({ evidence }: AuditFinding, lost: readonly string[]): boolean {
  const isLost = (text: string): boolean => lost.some((address) => text.includes(address));
  return evidence.length > 0 && evidence.every(isLost);
}
