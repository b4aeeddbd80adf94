import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { describeSystemError, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readNamedText } from '../../../shared/base/files/read-file.ts';

/** Formats of an encrypted tarball. */
export type EncryptionName = 'age' | 'openssl';

/** Encrypts a stream of bytes. */
export type Encryption = (plain: AsyncIterable<Buffer>) => AsyncIterable<Uint8Array>;

/**
 * The age format (age-encryption.org/v1): authenticated, a new key for each file, readable by
 * `age --decrypt`.
 * @param recipients Public keys; any of their identities can decrypt the file.
 * @throws MlperfError `ERR_CONFIG_INVALID` if one is not a public key.
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
    // A file that is not a public key may be a private one: its content is not shown.
    const shown = /^age1[0-9a-z]+$/.test(recipient) ? `${recipient} ` : 'this ';
    const text = `${shown}is no public key of age ("age1...", as age-keygen -y prints it)`;
    throw new MlperfError('ERR_CONFIG_INVALID', text, { cause });
  }
}

const IV_BYTES = 16;
const SALT_BYTES = 8;

/**
 * The format that MLCommons' pack_submission.sh unpacks: `openssl enc -d -aes256` with its
 * defaults: AES-256-CBC, key and IV by one SHA-256 pass over password and salt. One pass does not
 * slow down guessing, so the password must be random; the file has no integrity check, so a
 * checksum is needed.
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

/** OpenSSL's EVP_BytesToKey with SHA-256 and count 1: two digests give key and IV. */
function keyAndIv(password: Buffer, salt: Buffer) {
  const digest = (before: Buffer): Buffer =>
    createHash('sha256').update(before).update(password).update(salt).digest();
  const key = digest(Buffer.alloc(0));
  return { key, iv: digest(key).subarray(0, IV_BYTES) };
}

/** Permission bits of other users on a key file. */
const OTHERS = 0o077;

/** Shortest accepted password: the format does not slow down guessing. */
const PASSWORD_LENGTH_MIN = 20;

/** Bytes of a generated password. */
const PASSWORD_BYTES = 32;

/**
 * Makes a key file readable only by its owner: an age identity, or a random password for openssl.
 * @throws MlperfError `ERR_OUTPUT` if the file exists: a lost key cannot be recreated.
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
 * The encryption with a key file.
 * @throws MlperfError `ERR_CONFIG_FILE` if it cannot be read or is not a key of this format. Its
 *   content is never shown.
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

/** True if other users can read a key file. */
export function isReadByOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0;
}

/** First line of the file, as with `openssl -pass file:`. */
function passwordOf(text: string, path: string): string {
  const password = text.split(/\r?\n/, 1)[0] ?? '';
  if (password.length >= PASSWORD_LENGTH_MIN) return password;
  throw new MlperfError(
    'ERR_CONFIG_FILE',
    `the password in the first line of ${path} is shorter than ${PASSWORD_LENGTH_MIN} characters: make one with --new-key-file`,
  );
}
