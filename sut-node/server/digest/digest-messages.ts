/** A payload on its way to the digest thread: the only view of a buffer that is transferred. */
export type ToDigestThread = Uint8Array;

/** Its SHA-256 as words; answers come in the order of the payloads. */
export type FromDigestThread = Uint32Array;
