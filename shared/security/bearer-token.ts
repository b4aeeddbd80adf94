import { createHash, timingSafeEqual } from 'node:crypto';
import {
  configInvalid,
  describeSystemError,
  type MlperfError,
} from '../base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, readBoundedText } from '../base/files/read-file.ts';

/** Metadata key under which a token travels, with every call. */
export const AUTHORIZATION_KEY = 'authorization';

/** Fewer characters can be guessed by asking. */
const TOKEN_LENGTH_MIN = 16;
/** HTTP/2 headers are bounded; nobody makes longer tokens. */
const TOKEN_LENGTH_MAX = 4_096;
/** The token's alphabet. Rule: RFC 6750, section 2.1 (b64token). */
const TOKEN_PATTERN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** What a call carries: the same text on both ends. Never log it. */
export function bearerOf(token: string): string {
  return `Bearer ${token}`;
}

/**
 * Reads the token of a file: one line; blanks around it do not count.
 * @param flag Flag that named the file, for the message.
 * @throws MlperfError `ERR_CONFIG_INVALID`; the message never shows what is in the file.
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

/** Compares what calls carry with the token, in a time that tells nothing about it. */
export class TokenCheck {
  readonly #expected: Buffer;

  constructor(token: string) {
    this.#expected = digest(bearerOf(token));
  }

  /** @param authorization Value of the metadata as it came; undefined when there was none. */
  accepts(authorization: string | undefined): boolean {
    // Digests have one length, whatever was sent: so the comparison takes one time.
    return timingSafeEqual(this.#expected, digest(authorization ?? ''));
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function refusal(flag: string, file: string, what: string): MlperfError {
  return configInvalid(`${flag} ${file} ${what}`);
}
