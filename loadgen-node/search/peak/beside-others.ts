import { counted } from '../../../shared/base/text.ts';
import type { PeakProbe } from './peak-search.ts';

/**
 * Text and advice for a search whose probes missed a bound, or were undecided, while the SUT served
 * other clients; null for any other. A load that was kept despite other clients would also be kept
 * without them.
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
