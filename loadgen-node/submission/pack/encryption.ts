import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { Encrypter } from 'age-encryption';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';

/** Turns the bytes of a tarball into those of the encrypted file, streamed. */
export type Encryption = (plain: AsyncIterable<Buffer>) => AsyncIterable<Uint8Array>;

/**
 * The age format (age-encryption.org/v1): authenticated, a new key for each file, read by `age --decrypt`.
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
    // What is no public key may be a secret one: it is not shown.
    const shown = /^age1[0-9a-z]+$/.test(recipient) ? `${recipient} ` : 'this ';
    const text = `${shown}is no public key of age ("age1...", as age-keygen -y prints it)`;
    throw new MlperfError('ERR_CONFIG_INVALID', text, { cause });
  }
}

const KEY_BYTES = 32;
const IV_BYTES = 16;
const SALT_BYTES = 8;

/**
 * What MLCommons' pack_submission.sh unpacks: `openssl enc -d -aes256` with its defaults, which are AES-256-CBC, key
 * and IV by one SHA-256 pass over password and salt. That pass is no obstacle to guessing, so the password must be
 * random; nothing in the file proves that it is whole, which its checksum has to.
 */
export function opensslEncryption(password: string): Encryption {
  return async function* encrypt(plain) {
    const salt = randomBytes(SALT_BYTES);
    const { key, iv } = keyAndIv(Buffer.from(password), salt);
    const cipher = createCipheriv('aes-256-cbc', key, iv);
    yield Buffer.concat([Buffer.from('Salted__'), salt]);
    for await (const chunk of plain) yield cipher.update(chunk);
    yield cipher.final();
  };
}

/** OpenSSL: EVP_BytesToKey with SHA-256 and a count of 1. */
function keyAndIv(password: Buffer, salt: Buffer): { readonly key: Buffer; readonly iv: Buffer } {
  let block = Buffer.alloc(0);
  let derived = Buffer.alloc(0);
  while (derived.length < KEY_BYTES + IV_BYTES) {
    block = createHash('sha256').update(block).update(password).update(salt).digest();
    derived = Buffer.concat([derived, block]);
  }
  return {
    key: derived.subarray(0, KEY_BYTES),
    iv: derived.subarray(KEY_BYTES, KEY_BYTES + IV_BYTES),
  };
}
