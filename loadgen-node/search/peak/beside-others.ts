import { counted } from '../../../shared/base/text.ts';
import type { PeakProbe } from './peak-search.ts';

/**
 * Of a search with probes that missed a bound, or were not decided, while the SUT answered others: what that means, and what to do;
 * null for any other. A load that was kept beside others is kept without them.
 */
export function besideOthers(
  probes: readonly PeakProbe[],
): { readonly limitText: string; readonly advice: readonly string[] } | null {
  const beside = probes.filter(
    ({ others, kind, verdict }) =>
      others !== undefined && kind !== 'unloaded' && verdict !== 'keeps',
  );
  const [first] = beside;
  if (first === undefined) return null;
  return {
    limitText:
      `In ${beside.length} of ${counted(probes.length, 'probe')} the SUT answered others as well, and the bound was not kept: its own limit is not seen. ` +
      `In probe ${first.number}: ${first.others}.`,
    advice: ['Search again, without --resume, while nothing else uses the SUT.'],
  };
}
