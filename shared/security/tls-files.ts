import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  configInvalid,
  describeSystemError,
  type MlperfError,
  messageOf,
} from '../base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readBounded } from '../base/files/read-file.ts';

/** PEM files of one end's certificate (with the chain behind it, if there is one) and its key. */
export interface IdentityFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Their contents, checked: the key belongs to the first certificate, which is valid now. */
export interface TlsIdentity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

const CERT_FLAG = '--tls-cert';
const KEY_FLAG = '--tls-key';
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads the certificate that one end shows and its key.
 * @throws MlperfError `ERR_CONFIG_INVALID` naming the flag, the file and what is wrong with it.
 */
export function readIdentity(
  { certFile, keyFile }: IdentityFiles,
  nowMs: number = Date.now(),
): TlsIdentity {
  const cert = readPem(CERT_FLAG, certFile);
  const [own] = certificatesOf(cert, CERT_FLAG, certFile);
  const key = readPem(KEY_FLAG, keyFile);
  const privateKey = privateKeyOf(key, keyFile);
  if (own === undefined || !own.checkPrivateKey(privateKey)) {
    throw refusal(
      KEY_FLAG,
      keyFile,
      `does not belong to the certificate of ${CERT_FLAG} ${certFile}`,
    );
  }
  const fault = timeFault(own, nowMs);
  if (fault !== undefined) throw refusal(CERT_FLAG, certFile, `${fault}; make a new one`);
  return { cert, key };
}

/**
 * Reads the certificates of the authorities whose signature is accepted.
 * @param flag Flag that named the file, for the message.
 * @throws MlperfError `ERR_CONFIG_INVALID`, also when none of them is valid now.
 */
export function readAuthorities(file: string, flag: string, nowMs: number = Date.now()): Buffer {
  const pem = readPem(flag, file);
  const faults = certificatesOf(pem, flag, file).map((authority) => timeFault(authority, nowMs));
  if (faults.every((fault) => fault !== undefined)) throw refusal(flag, file, faults[0] ?? '');
  return pem;
}

function readPem(flag: string, file: string): Buffer {
  try {
    return readBounded(file, FILE_BYTES_MAX.pem);
  } catch (error) {
    throw refusal(flag, file, `cannot be read: ${describeSystemError(error)}`, error);
  }
}

/** One certificate at least. */
function certificatesOf(pem: Buffer, flag: string, file: string): X509Certificate[] {
  const blocks = pem.toString('latin1').match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) {
    throw refusal(flag, file, 'holds no certificate (PEM, "-----BEGIN CERTIFICATE-----")');
  }
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw refusal(flag, file, `holds a damaged certificate: ${messageOf(error)}`, error);
  }
}

function privateKeyOf(pem: Buffer, file: string): KeyObject {
  const text = pem.toString('latin1');
  if (!text.includes('PRIVATE KEY-----')) {
    throw refusal(KEY_FLAG, file, 'holds no private key (PEM, "-----BEGIN PRIVATE KEY-----")');
  }
  if (text.includes('ENCRYPTED')) {
    throw refusal(
      KEY_FLAG,
      file,
      'is locked with a passphrase, which nobody could type here; "openssl pkey" writes it without',
    );
  }
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw refusal(KEY_FLAG, file, `holds a damaged private key: ${messageOf(error)}`, error);
  }
}

/** What is wrong with the time of a certificate, if anything. */
function timeFault({ validFrom, validTo }: X509Certificate, nowMs: number): string | undefined {
  if (nowMs > Date.parse(validTo)) return `has expired (it was valid until ${validTo})`;
  if (nowMs < Date.parse(validFrom)) return `is not valid yet (from ${validFrom} on)`;
  return undefined;
}

function refusal(flag: string, file: string, what: string, cause?: unknown): MlperfError {
  return configInvalid(`${flag} ${file} ${what}`, cause);
}
