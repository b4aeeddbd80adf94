import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { describeSystemError, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readNamedText } from '../../../shared/base/files/read-file.ts';

/** Forms of an encrypted tarball. */
export type EncryptionName = 'age' | 'openssl';

/** Turns the bytes of a tarball into those of the encrypted file, streamed. */
export type Encryption = (plain: AsyncIterable<Buffer>) => AsyncIterable<Uint8Array>;

/**
 * The age format (age-encryption.org/v1): authenticated, a new key for each file, read by `age
 * --decrypt`.
 * @param recipients Public keys; who has the identity to any of them can read the file.
 * @throws MlperfError `ERR_CONFIG_INVALID` when one is no public key.
 */
export function ageEncryption(recipients: readonly string[]): Encryption {
  const encrypter = new Encrypter();
  for (const recipient of recipients) addRecipient(encrypter, recipient);
  return async function* encrypt(plain) {
    const input = Readable.toWeb(Readable.from(plain)) as ReadableStream<Uint8Array>;
    yield* (await encrypter.encrypt(input as never)) as unknown as AsyncIterable<Uint8Array>;
  };
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient);
  } catch (cause) {
    // A file that is no public key may be a private one: its contents are not shown.
    const shown = /^age1[0-9a-z]+$/.test(recipient) ? `${recipient} ` : 'this ';
    const text = `${shown}is no public key of age ("age1...", as age-keygen -y prints it)`;
    throw new MlperfError('ERR_CONFIG_INVALID', text, { cause });
  }
}

const IV_BYTES = 16;
const SALT_BYTES = 8;

/**
 * The form that MLCommons' pack_submission.sh unpacks: `openssl enc -d -aes256` with its defaults, which are
 * AES-256-CBC, key and IV by one SHA-256 pass over password and salt. That pass is no obstacle to
 * guessing, so the password must be random; the file does not prove its own integrity, so a checksum has
 * to.
 */
function opensslEncryption(password: string): Encryption {
  return async function* encrypt(plain) {
    const salt = randomBytes(SALT_BYTES);
    const { key, iv } = keyAndIv(Buffer.from(password), salt);
    const cipher = createCipheriv('aes-256-cbc', key, iv);
    yield Buffer.concat([Buffer.from('Salted__'), salt]);
    for await (const chunk of plain) yield cipher.update(chunk);
    yield cipher.final();
  };
}

/**
 * OpenSSL: EVP_BytesToKey with SHA-256 and a count of 1, which gives key and IV with two digests.
 */
function keyAndIv(password: Buffer, salt: Buffer) {
  const digest = (before: Buffer): Buffer =>
    createHash('sha256').update(before).update(password).update(salt).digest();
  const key = digest(Buffer.alloc(0));
  return { key, iv: digest(key).subarray(0, IV_BYTES) };
}

/** Rights of others to a key file. */
const OTHERS = 0o077;

/** Shortest accepted password: the form does not slow down guessing. */
const PASSWORD_LENGTH_MIN = 20;

/** Bytes of a password that is made. */
const PASSWORD_BYTES = 32;

/**
 * Makes a key file that only its owner may read: an identity of age, or a random password for
 * openssl.
 * @throws MlperfError `ERR_OUTPUT` when there is such a file: a key that is lost cannot be made
 *   again.
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
 * The encryption by a key file.
 * @throws MlperfError `ERR_CONFIG_FILE` when it cannot be read or is no key of this form. No text
 *   of it is shown.
 */
export async function encryptionOfKeyFile(path: string, encryption: EncryptionName) {
  const text = readNamedText(path, FILE_BYTES_MAX.secret, 'the key file ');
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

/** As `openssl -pass file:` takes it: the first line. */
function passwordOf(text: string, path: string): string {
  const password = text.split(/\r?\n/, 1)[0] ?? '';
  if (password.length >= PASSWORD_LENGTH_MIN) return password;
  throw new MlperfError(
    'ERR_CONFIG_FILE',
    `the password in the first line of ${path} is shorter than ${PASSWORD_LENGTH_MIN} characters: make one with --new-key-file`,
  );
}
