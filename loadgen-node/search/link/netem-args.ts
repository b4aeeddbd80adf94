import { rounded } from '../../../shared/base/figures/figure-text.ts';
import type { LinkConditions } from './link-conditions.ts';

/** Interface on which both directions of a connection leave: each passes it once. */
const LOOPBACK = 'lo';

/** Packets that wait where nothing else is known: what Linux gives an interface, and netem's own default. */
const QUEUE_PACKETS = 1_000;
const PACKET_BYTES = 1_500;
/** Rate that the packets on a link without a limit are counted for. */
const RATE_ASSUMED = 25e9;

/**
 * Arguments behind `tc qdisc add dev IF root netem`. An interface shapes what leaves through it. Over loopback that is each
 * direction; elsewhere it is queries alone, so the delay of the whole round trip is put there.
 */
export function netemArgs(device: string, link: LinkConditions): string[] {
  const { delayNs, bitsPerSecond, lossShare } = link;
  const onceNs = device === LOOPBACK ? delayNs : 2 * delayNs;
  // netem holds what is delayed in the same queue as what waits.
  const flying = ((bitsPerSecond ?? RATE_ASSUMED) / 8 / PACKET_BYTES) * (onceNs / 1e9);
  const args = ['limit', String(QUEUE_PACKETS + Math.ceil(flying))];
  if (onceNs > 0) args.push('delay', `${Math.round(onceNs / 1e3)}us`);
  if (lossShare > 0) args.push('loss', `${rounded(lossShare * 100, 6)}%`);
  if (bitsPerSecond !== null) args.push('rate', `${Math.round(bitsPerSecond)}bit`);
  return args;
}
