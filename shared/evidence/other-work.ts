import { counted } from '../base/text.ts';
import type { OtherWork } from '../domain/system-under-test.ts';
import type { NodeEvidence } from './evidence-schema.ts';

/** Addresses and their characters that are shown: a node may say anything. */
const SHOWN_MAX = 8;
const SHOWN_LENGTH_MAX = 64;

/**
 * Samples that a node answered for others during a run: by its own ledger, or by a server's statistics, which count the
 * requests of all its clients, those of ours that failed here among them. Null where there were none, and where the node does
 * not tell.
 */
export function otherWorkOf(node: NodeEvidence): OtherWork | null {
  const { theirs, ours } = node;
  const { server } = node;
  if (server !== undefined) {
    const requests = (server.statistics?.success.count ?? 0) - ours.partCount;
    if (requests <= 0) return null;
    const text = `answered ${counted(requests, 'request')} of other clients meanwhile`;
    return { samples: requests, text };
  }
  const { otherSampleCount: samples = 0, otherAddresses = [] } = theirs ?? {};
  if (samples === 0) return null;
  return {
    samples,
    text: `answered ${counted(samples, 'sample')} of others meanwhile${loadgensText(otherAddresses)}`,
  };
}

/** Of the addresses that the node lists; others may be behind the samples as well. */
function loadgensText(addresses: readonly string[]): string {
  if (addresses.length === 0) return '';
  const shown = addresses.slice(0, SHOWN_MAX).map((one) => one.slice(0, SHOWN_LENGTH_MAX));
  const more = addresses.length < SHOWN_MAX ? '' : ' and maybe more';
  return `, among them ${shown.length === 1 ? 'a LoadGen' : 'LoadGens'} at ${shown.join(', ')}${more}`;
}
