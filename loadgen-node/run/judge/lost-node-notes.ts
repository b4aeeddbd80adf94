import type { DispatchSettings, QueryDispatchLibrary } from '../../../qdl/index.ts';

/** Where a lost node ends the run, the fault names it; where it does not, no sample need be lost with it. */
export function lostNodeNotes(
  onNodeLoss: DispatchSettings['onNodeLoss'],
  qdl: Pick<QueryDispatchLibrary, 'nodes' | 'activity'>,
): string[] {
  if (onNodeLoss !== 'continue') return [];
  const states = qdl.activity();
  return qdl.nodes.flatMap(({ address, ledger }, i) => {
    if (states[i]?.isLost !== true) return [];
    const { sampleCount, completedCount } = ledger;
    return [
      `SUT node ${address} was lost in the middle of the run, or shut down; it had answered ${completedCount} of ${sampleCount} samples, and the run went on without it`,
    ];
  });
}
