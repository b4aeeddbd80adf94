import type { HeaderField } from '../../../shared/http2/hpack.ts';

/** Pseudo-headers of a request; true if required. Rule: RFC 9113, section 8.3.1. */
const PSEUDO: ReadonlyMap<string, boolean> = new Map([
  [':method', true],
  [':scheme', true],
  [':path', true],
  [':authority', false],
]);

/** Connection-specific headers of HTTP/1.1. Rule: RFC 9113, section 8.2.2. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** Visible ASCII without upper case and colon. Rule: RFC 9113, section 8.2.1. */
const NAME = /^[!-9;-@[-~]+$/;
const SPACE_AT_AN_END = /^[ \t]|[ \t]$/;

const CONTENT_LENGTH = 'content-length';

/** True for a malformed request by RFC 9113, section 8: the stream is reset. */
export function isMalformedRequest(fields: readonly HeaderField[]): boolean {
  const firstOther = fields.findIndex(({ name }) => !name.startsWith(':'));
  const count = firstOther < 0 ? fields.length : firstOther;
  const pseudo = new Map(fields.slice(0, count).map(({ name, value }) => [name, value]));
  if (pseudo.size < count) return true;
  for (const [name, value] of pseudo) {
    if (!PSEUDO.has(name) || !isValue(value)) return true;
  }
  for (const [name, isNeeded] of PSEUDO) {
    if (isNeeded && (pseudo.get(name) ?? '') === '') return true;
  }
  if (fields.filter(({ name }) => name === CONTENT_LENGTH).length > 1) return true;
  return !fields.slice(count).every(isPlain);
}

/** Declared content-length; undefined without one. */
export function contentLengthOf(fields: readonly HeaderField[]): number | undefined {
  const found = fields.find(({ name }) => name === CONTENT_LENGTH);
  return found === undefined ? undefined : Number(found.value);
}

/** True for malformed trailers. */
export function isMalformedTrailers(fields: readonly HeaderField[]): boolean {
  return !fields.every(isPlain);
}

/** True for a valid header after the pseudo-headers. */
function isPlain({ name, value }: HeaderField): boolean {
  if (!NAME.test(name) || OF_CONNECTIONS.has(name)) return false;
  if (name === CONTENT_LENGTH && !/^\d+$/.test(value)) return false;
  return isValue(value) && (name !== 'te' || value === 'trailers');
}

function isValue(value: string): boolean {
  for (const byte of ['\0', '\r', '\n']) {
    if (value.includes(byte)) return false;
  }
  return !SPACE_AT_AN_END.test(value);
}
