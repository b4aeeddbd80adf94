import { PAYLOAD_DIGESTS_FEATURE } from '../../../shared/evidence/payload-digest.ts';

/** Optional parts of the protocol that this node supports (Describe.features). */
export const NODE_FEATURES: readonly string[] = [PAYLOAD_DIGESTS_FEATURE];

/** Those of Open.features that are in use from then on (Opened.features). */
export function agreedFeatures(wanted: readonly string[]): string[] {
  return NODE_FEATURES.filter((feature) => wanted.includes(feature));
}
