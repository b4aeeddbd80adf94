import { randomBytes } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../../../shared/base/files/read-file.ts';
import { ageEncryption, type Encryption, opensslEncryption } from './encryption.ts';
import type { EncryptionName } from './pack-settings.ts';

/** Rights of others to a key file. */
const OTHERS = 0o077;

/** Shortest password that is taken: the form does nothing against guessing. */
const PASSWORD_LENGTH_MIN = 20;

/** Bytes of a password that is made. */
const PASSWORD_BYTES = 32;

/**
 * Makes a key file that only its owner may read: an identity of age, or a random password for openssl.
 * @throws MlperfError `ERR_OUTPUT` when there is such a file: a key that is lost cannot be made again.
 */
export async function makeKeyFile(path: string, encryption: EncryptionName): Promise<void> {
  const text =
    encryption === 'age'
      ? await ageIdentityText()
      : `${randomBytes(PASSWORD_BYTES).toString('hex')}\n`;
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    const reason = isThere
      ? `${path} is there already, and no key is written over: encrypt with it (--key-file ${path}), or name another file`
      : `cannot make the key file ${path}: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_OUTPUT', reason, { cause: error });
  }
}

async function ageIdentityText(): Promise<string> {
  const identity = await generateX25519Identity();
  return `# public key: ${await identityToRecipient(identity)}\n${identity}\n`;
}

/**
 * The encryption for whoever has a key file.
 * @throws MlperfError `ERR_CONFIG_FILE` when it cannot be read or is no key of this form. No text of it is shown.
 */
export async function encryptionOfKeyFile(
  path: string,
  encryption: EncryptionName,
): Promise<Encryption> {
  const text = readKeyFile(path);
  if (encryption === 'openssl') return opensslEncryption(passwordOf(text, path));
  const identities = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  try {
    if (identities.length > 0) {
      return ageEncryption(await Promise.all(identities.map((line) => identityToRecipient(line))));
    }
  } catch {
    // The library's message might show the key.
  }
  throw new MlperfError(
    'ERR_CONFIG_FILE',
    `${path} is no key file of age: each line is "AGE-SECRET-KEY-1..." or begins with #, as age-keygen writes it`,
  );
}

/** True where others than the owner may read a key file. */
export function isReadByOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0;
}

function readKeyFile(path: string): string {
  try {
    return readBoundedText(path, FILE_BYTES_MAX.secret);
  } catch (error) {
    const text = `cannot read the key file ${path}: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_CONFIG_FILE', text, { cause: error });
  }
}

/** As `openssl -pass file:` takes it: the first line. */
function passwordOf(text: string, path: string): string {
  const password = text.split(/\r?\n/, 1)[0] ?? '';
  if (password.length >= PASSWORD_LENGTH_MIN) return password;
  throw new MlperfError(
    'ERR_CONFIG_FILE',
    `the password in the first line of ${path} is shorter than ${PASSWORD_LENGTH_MIN} characters: make one with --new-key-file`,
  );
}
