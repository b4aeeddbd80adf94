import { choice, type SettingValues, text, toggle } from '../../../shared/config/setting.ts';
import { SUBMISSION_ROUNDS } from '../rules/submission-rounds.ts';

/** Forms of an encrypted tarball. */
export const ENCRYPTIONS = ['age', 'openssl'] as const;

/** One of {@link ENCRYPTIONS}. */
export type EncryptionName = (typeof ENCRYPTIONS)[number];

/** Says that the tarball is to be readable for everybody. */
export const NOT_ENCRYPTED = 'none';

/** Settings of `longhaul submission pack`. */
export const PACK_SETTINGS = {
  output: text(
    'file',
    'the tarball, for example acme.tar.gz.age; checksums are written beside it',
    {
      required: true,
    },
  ),
  encryption: choice(
    [...ENCRYPTIONS, NOT_ENCRYPTED],
    "form of the encrypted tarball: age, or what the round's pack_submission.sh unpacks; none: not for an upload",
    { fallback: 'age' },
  ),
  keyFile: text(
    'file',
    'encrypt with this key file (age: an identity; openssl: a password in its first line)',
  ),
  newKeyFile: text('file', 'make a key file, readable for its owner alone, and encrypt with it'),
  recipient: text('key[,key...]', 'age: encrypt for the owners of these public keys (age1...)'),
  round: choice(
    SUBMISSION_ROUNDS,
    'round whose rules the check goes by (default: the one whose seeds the logs have)',
  ),
  unchecked: toggle('do not check the tree first'),
};

/** Effective values of {@link PACK_SETTINGS}. */
export type PackValues = SettingValues<typeof PACK_SETTINGS>;
