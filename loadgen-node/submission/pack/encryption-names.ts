/** Forms of an encrypted tarball. */
export const ENCRYPTIONS = ['age', 'openssl'] as const;

/** One of {@link ENCRYPTIONS}. */
export type EncryptionName = (typeof ENCRYPTIONS)[number];
