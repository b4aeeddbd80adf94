import {
  createHash,
  createPrivateKey,
  type KeyObject,
  timingSafeEqual,
  X509Certificate,
} from 'node:crypto';
import {
  configInvalid,
  describeSystemError,
  type MlperfError,
  messageOf,
} from '../base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readBounded, readBoundedText } from '../base/files/read-file.ts';
import { isLoopback, splitAddress } from '../domain/node-address.ts';

/**
 * Security of the LoadGen node's connections: names of files, never their contents, so that
 * settings can be printed and logged.
 */
export interface ClientSecurity {
  /** False: no TLS, and everything below but `tokenFile` is undefined. */
  readonly tls: boolean;
  /** Authorities accepted for a node's certificate; undefined: those of Node.js. */
  readonly tlsCa: string | undefined;
  /** Client certificate and key; both or neither. */
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** Name required in the nodes' certificates, instead of the host in their address. */
  readonly tlsServerName: string | undefined;
  /** File of the token sent with every call. */
  readonly tokenFile: string | undefined;
}

/** Plain connections, as on loopback. */
export const NO_SECURITY: ClientSecurity = {
  tls: false,
  tlsCa: undefined,
  tlsCert: undefined,
  tlsKey: undefined,
  tlsServerName: undefined,
  tokenFile: undefined,
};

/** Contents of the files of {@link ClientSecurity}. */
export interface ClientSecrets {
  readonly authorities: Buffer | undefined;
  readonly identity: TlsIdentity | undefined;
  /** Bearer token of each call. */
  readonly token: string | undefined;
}

/**
 * Reads the files.
 * @throws MlperfError `ERR_CONFIG_INVALID` naming the flag, the file and its fault.
 */
export function readClientSecrets(security: ClientSecurity): ClientSecrets {
  const { tlsCa, tlsCert, tlsKey, tokenFile } = security;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw configInvalid('--tls-cert and --tls-key belong together: give both or neither');
  }
  return {
    authorities: tlsCa === undefined ? undefined : readAuthorities(tlsCa, '--tls-ca'),
    identity:
      tlsCert === undefined || tlsKey === undefined
        ? undefined
        : readIdentity({ certFile: tlsCert, keyFile: tlsKey }),
    token: tokenFile === undefined ? undefined : readToken(tokenFile, '--token-file'),
  };
}

/**
 * All checks possible before the first connection: the files, and that a token never crosses a
 * network in plain text.
 * @param addresses Addresses of the nodes.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function checkClientSecurity(security: ClientSecurity, addresses: readonly string[]): void {
  readClientSecrets(security);
  if (security.tls || security.tokenFile === undefined) return;
  const open = addresses.find((address) => !isLoopback(splitAddress(address)?.host ?? ''));
  if (open === undefined) return;
  throw configInvalid(
    `--token-file would send the token to ${open} readable on the way; use TLS as well (--tls-ca FILE)`,
  );
}

/** PEM files of one end's certificate (with its chain, if any) and its key. */
interface IdentityFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Their contents, checked: the key belongs to the first certificate, which is currently valid. */
export interface TlsIdentity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

const CERT_FLAG = '--tls-cert';
const KEY_FLAG = '--tls-key';
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads the certificate that one end shows and its key.
 * @throws MlperfError `ERR_CONFIG_INVALID` naming the flag, the file and its fault.
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
 * Reads the certificates of the accepted authorities.
 * @param flag Flag named in the message.
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
      'is locked with a passphrase, which longhaul does not support; "openssl pkey" writes it without',
    );
  }
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw refusal(KEY_FLAG, file, `holds a damaged private key: ${messageOf(error)}`, error);
  }
}

/** Fault in the validity of a certificate, if any. */
function timeFault({ validFrom, validTo }: X509Certificate, nowMs: number): string | undefined {
  if (nowMs > Date.parse(validTo)) return `has expired (it was valid until ${validTo})`;
  if (nowMs < Date.parse(validFrom)) return `is not valid yet (from ${validFrom} on)`;
  return undefined;
}

function refusal(flag: string, file: string, what: string, cause?: unknown): MlperfError {
  return configInvalid(`${flag} ${file} ${what}`, cause);
}

/** Metadata key of the token, sent with every call. */
export const AUTHORIZATION_KEY = 'authorization';

/** Shortest token, characters: a shorter one could be guessed online. */
const TOKEN_LENGTH_MIN = 16;
/** HTTP/2 headers are bounded; tokens are shorter. */
const TOKEN_LENGTH_MAX = 4_096;
/** The token's alphabet. Rule: RFC 6750, section 2.1 (b64token). */
const TOKEN_PATTERN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Metadata value of a token: equal on both ends. Never log it. */
export function bearerOf(token: string): string {
  return `Bearer ${token}`;
}

/**
 * Reads the token of a file: one line; surrounding blanks are ignored.
 * @param flag Flag named in the message.
 * @throws MlperfError `ERR_CONFIG_INVALID`; the message never shows the file's content.
 */
export function readToken(file: string, flag: string): string {
  let text: string;
  try {
    text = readBoundedText(file, FILE_BYTES_MAX.secret).trim();
  } catch (error) {
    throw refusal(flag, file, `cannot be read: ${describeSystemError(error)}`);
  }
  if (text === '') throw refusal(flag, file, 'is empty; it must hold the token in one line');
  if (text.length < TOKEN_LENGTH_MIN || text.length > TOKEN_LENGTH_MAX) {
    const bounds = `${TOKEN_LENGTH_MIN} to ${TOKEN_LENGTH_MAX}`;
    const remedy = `it must have ${bounds} (openssl rand -hex 32 makes a good one)`;
    throw refusal(flag, file, `holds a token of ${text.length} characters; ${remedy}`);
  }
  if (!TOKEN_PATTERN.test(text)) {
    throw refusal(
      flag,
      file,
      'holds no token: one line of letters, digits and -._~+/ (openssl rand -hex 32 makes a good one)',
    );
  }
  return text;
}

/** Compares the metadata of calls with the token, in constant time. */
export class TokenCheck {
  readonly #expected: Buffer;

  constructor(token: string) {
    this.#expected = digest(bearerOf(token));
  }

  /** @param authorization Received metadata value; undefined without one. */
  accepts(authorization: string | undefined): boolean {
    // Digests have equal length, so the comparison takes constant time.
    return timingSafeEqual(this.#expected, digest(authorization ?? ''));
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
