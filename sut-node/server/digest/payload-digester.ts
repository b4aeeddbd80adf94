import { sha256Words } from '../../../shared/evidence/payload-digest.ts';

/** Gets a payload's digest; undefined where it can no longer be made. Never throws. */
export type OnDigest = (digest: Uint32Array | undefined) => void;

/** Makes digests of payloads for the ledger (shared/evidence/payload-digest.ts). */
export interface PayloadDigester {
  /** Be ready: a run that asks for digests has opened a stream. */
  prepare(): void;
  /**
   * Digests one payload. Never throws.
   * @param pieces In order; they need not stay as they are after the call.
   * @param bytes Of all pieces.
   * @param onDigest Called during the call or later, once, in the order of the calls or not.
   */
  digest(pieces: readonly Uint8Array[], bytes: number, onDigest: OnDigest): void;
}

/** Digests on the thread that asks. */
export const inlineDigester: PayloadDigester = {
  prepare: () => {},
  digest: (pieces, _bytes, onDigest) => onDigest(sha256Words(pieces)),
};
