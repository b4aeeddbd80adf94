import { counted } from '../base/text.ts';
import type { OtherWork } from '../domain/system-under-test.ts';
import type { NodeEvidence } from './evidence-schema.ts';

/** Most addresses shown, and most characters of one: a node may report anything. */
const SHOWN_MAX = 8;
const SHOWN_LENGTH_MAX = 64;

/**
 * Samples that a node answered for others during a run: by its ledger, or by a server's statistics,
 * which count the requests of all clients, including ours that failed here. Null if there were
 * none, or the node does not report them.
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

/** Text of the addresses that the node lists; other clients may have sent samples too. */
function loadgensText(addresses: readonly string[]): string {
  if (addresses.length === 0) return '';
  const shown = addresses.slice(0, SHOWN_MAX).map((one) => one.slice(0, SHOWN_LENGTH_MAX));
  const more = addresses.length < SHOWN_MAX ? '' : ' and maybe more';
  return `, among them ${shown.length === 1 ? 'a LoadGen' : 'LoadGens'} at ${shown.join(', ')}${more}`;
}
