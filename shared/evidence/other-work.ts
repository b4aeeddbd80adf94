import { counted } from '../base/text.ts';
import type { OtherWork } from '../domain/system-under-test.ts';
import type { NodeEvidence } from './evidence-schema.ts';

/** Addresses and their characters that are shown: a node may say anything. */
const SHOWN_MAX = 8;
const SHOWN_LENGTH_MAX = 64;

/**
 * Samples that a node answered for others during a run: by its own ledger, or by the statistics of a server of the Open Inference
 * Protocol, which count all its clients. Null where there were none, and where the node does not tell.
 */
export function otherWorkOf({ theirs, oip, ours }: NodeEvidence): OtherWork | null {
  if (oip !== undefined) {
    const samples = (oip.statistics?.inferenceCount ?? 0) - ours.completedCount;
    if (samples <= 0) return null;
    return { samples, text: `answered ${counted(samples, 'sample')} of other clients meanwhile` };
  }
  const { otherSampleCount: samples = 0, otherAddresses: addresses = [] } = theirs ?? {};
  if (samples === 0) return null;
  const whose = ownersText(
    addresses.slice(0, SHOWN_MAX).map((one) => one.slice(0, SHOWN_LENGTH_MAX)),
  );
  return { samples, text: `answered ${counted(samples, 'sample')} of ${whose} meanwhile` };
}

function ownersText(addresses: readonly string[]): string {
  if (addresses.length === 0) return 'other clients';
  const which = addresses.length === 1 ? 'another LoadGen' : 'other LoadGens';
  return `${which} (${addresses.join(', ')})`;
}
