import { sha256OfFile } from '../../tree/file-work.ts';
import { readDocument, wholeMessage } from '../read/read-document.ts';
import type { CheckContext } from '../read/sites.ts';

/** Largest accuracy log that the official tools take for truncated. */
const ACCURACY_LOG_BYTES_MAX = 10_240;

/** What the truncation tool leaves at either end, and what it puts between. */
const KEPT_BYTES = 4096;
const DOTS = '\n\n...\n\n';

/**
 * Checks an accuracy log in a tree: its size, its form, and its hash where the whole log is known.
 * @param hash SHA-256 in accuracy.txt; undefined: none that could be compared.
 * @param tooLarge Rule about a log that was not truncated.
 */
export async function checkAccuracyLog(
  context: CheckContext,
  path: string,
  hash: string | undefined,
  tooLarge:
    | 'accuracy-log-not-truncated'
    | 'test01-log-not-truncated' = 'accuracy-log-not-truncated',
): Promise<void> {
  const { listing, findings, originals } = context;
  const bytes = listing.bytesOf(path);
  if (bytes === undefined) return;
  if (bytes > ACCURACY_LOG_BYTES_MAX) {
    const text = `It has ${bytes} bytes; ${ACCURACY_LOG_BYTES_MAX} at most.`;
    findings.add(tooLarge, path, text);
    return;
  }
  const text = readDocument(context, path);
  if (text === undefined) return;
  if (/^\s*(?:\[\s*\]?\s*)?$/.test(text)) {
    findings.add('accuracy-log-empty', path, 'It has no records.');
    return;
  }
  const isWhole = isWholeLog(text);
  const damage = isWhole ? undefined : truncatedDamage(text.replaceAll('\r\n', '\n'));
  if (damage !== undefined) findings.add('accuracy-log-damaged', path, damage);
  if (hash === undefined || damage !== undefined) return;
  const known = isWhole ? [listing.pathOf(path)] : originals?.of(path);
  if (known === undefined) return;
  if (known.length === 0) {
    const seen = `${originals?.folder} has no file for it, so its hash was not compared.`;
    findings.add('original-missing', path, seen);
    return;
  }
  if (!isWhole) context.comparedOriginals.add(path);
  const digests = await Promise.all(known.map(digestOf));
  if (digests.includes(hash)) return;
  const of = isWhole ? 'the log, which is whole,' : 'the original';
  const seen = `The SHA-256 of ${of} is ${digests.join(' or ')}, accuracy.txt has ${hash}.`;
  findings.add('hash-wrong', path, seen);
}

/** Words for an original that cannot be read take the place of its digest. */
async function digestOf(file: string): Promise<string> {
  return sha256OfFile(file).catch((error: unknown) => `not known (${wholeMessage(error)})`);
}

/** The JSON value of a text; undefined where it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A JSON array of records that is not cut. */
function isWholeLog(text: string): boolean {
  const records = jsonOf(text);
  return Array.isArray(records) && records.length > 0 && records.every(isRecord);
}

function isRecord(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { seq_id: sequence, qsl_idx: index, data } = value as Record<string, unknown>;
  return (
    Number.isInteger(sequence) &&
    Number.isInteger(index) &&
    typeof data === 'string' &&
    /^(?:[0-9A-Fa-f]{2})*$/.test(data)
  );
}

/**
 * What is wrong with a log that is not whole; undefined where it is as the truncation tool leaves one. On Windows the
 * tool counts a line end as one character and writes two bytes, so that the end may be shorter.
 * @param text With "\n" for each line end.
 */
function truncatedDamage(text: string): string | undefined {
  const isCut = text.startsWith(DOTS, KEPT_BYTES) && text.length <= 2 * KEPT_BYTES + DOTS.length;
  if (!isCut) return `Its ${text.length} characters are neither a whole log nor a truncated one.`;
  if (!/^\[\s*\{/.test(text)) return 'It does not begin with "[" and a record.';
  if (!/\}\s*\]\s*$/.test(text)) return 'It does not end with a record and "]".';
  const records = [text.slice(0, KEPT_BYTES), text.slice(KEPT_BYTES + DOTS.length)].flatMap(
    (part) => part.match(/\{[^{}]*\}/g) ?? [],
  );
  const odd = records.find((record) => !isRecord(jsonOf(record)));
  return odd === undefined ? undefined : `"${odd.slice(0, 60)}" is no record of an accuracy log.`;
}
