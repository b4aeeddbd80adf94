import { counted } from '../../../shared/base/text.ts';
import type { PeakProbe } from './peak-search.ts';

/** Of a search some of whose probes were made while the SUT answered others: what that means, and what to do; null for any other. */
export function besideOthers(
  probes: readonly PeakProbe[],
): { readonly limitText: string; readonly advice: readonly string[] } | null {
  const beside = probes.filter(({ others }) => others !== undefined);
  const [first] = beside;
  if (first === undefined) return null;
  return {
    limitText:
      `The SUT answered others as well in ${beside.length} of ${counted(probes.length, 'probe')}, so that its own limit is not seen. ` +
      `In probe ${first.number}: ${first.others}.`,
    advice: ['Search again while nothing else uses the SUT.'],
  };
}
