import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256OfFile } from '../file-work.ts';
import type { CheckContext } from './check-context.ts';
import { readDocument } from './read-document.ts';
import { messageOf } from './run-log.ts';

/** Largest accuracy log that the official tools take for truncated. */
const ACCURACY_LOG_BYTES_MAX = 10_240;

/** What the truncation tool leaves at either end, and what it puts between. */
const KEPT_BYTES = 4096;
const DOTS = '\n\n...\n\n';

/**
 * Checks an accuracy log in a tree: its size, its form, and its hash where the whole log is known.
 * @param hash SHA-256 in accuracy.txt; undefined: none that could be compared.
 */
export async function checkAccuracyLog(
  context: CheckContext,
  path: string,
  hash: string | undefined,
): Promise<void> {
  const { listing, findings, originals } = context;
  const bytes = listing.bytesOf(path);
  if (bytes === undefined) return;
  if (bytes > ACCURACY_LOG_BYTES_MAX) {
    const text = `It has ${bytes} bytes; ${ACCURACY_LOG_BYTES_MAX} at most.`;
    findings.add('accuracy-log-not-truncated', path, text);
    return;
  }
  const text = readDocument(context, path);
  if (text === undefined) return;
  const isWhole = isWholeLog(text);
  const damage = isWhole ? undefined : truncatedDamage(text);
  if (damage !== undefined) findings.add('accuracy-log-damaged', path, damage);
  if (hash === undefined || damage !== undefined) return;
  const kept = originals === undefined ? [] : originalsOf(originals, path);
  const known = isWhole ? [listing.pathOf(path)] : kept;
  if (known.length === 0) return;
  const digests = await Promise.all(known.map(digestOf));
  if (digests.includes(hash)) return;
  const of = isWhole ? 'the log, which is whole,' : 'the original';
  const seen = `The SHA-256 of ${of} is ${digests.join(' or ')}, accuracy.txt has ${hash}.`;
  findings.add('hash-wrong', path, seen);
}

/** Originals of a log: laid out as the tree is, or in the numbered folders of `longhaul submission truncate`. */
function originalsOf(folder: string, path: string): string[] {
  const numbers = existsSync(folder)
    ? readdirSync(folder).filter((name) => /^\d+$/.test(name))
    : [];
  const all = ['', ...numbers].map((number) => join(folder, number, path));
  return all.filter((file) => existsSync(file));
}

/** Words for an original that cannot be read take the place of its digest. */
async function digestOf(file: string): Promise<string> {
  return sha256OfFile(file).catch((error: unknown) => `not known (${messageOf(error)})`);
}

/** A JSON array of records that is not cut. */
function isWholeLog(text: string): boolean {
  try {
    const records: unknown = JSON.parse(text);
    return Array.isArray(records) && records.length > 0 && records.every(isRecord);
  } catch {
    return false;
  }
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

/** What is wrong with a log that is not whole; undefined where it is as the truncation tool leaves one. */
function truncatedDamage(text: string): string | undefined {
  if (text.length === 0) return 'It has no bytes.';
  if (text.length !== 2 * KEPT_BYTES + DOTS.length || !text.startsWith(DOTS, KEPT_BYTES)) {
    return /^\[\s*\]\s*$/.test(text)
      ? 'It has no records.'
      : `Its ${text.length} bytes are neither a whole log nor a truncated one.`;
  }
  const head = text.slice(0, KEPT_BYTES).split('\n').slice(0, -1);
  const tail = text
    .slice(KEPT_BYTES + DOTS.length)
    .split('\n')
    .slice(1);
  const odd = [...head, ...tail].find((line) => !isLogLine(line));
  if (odd !== undefined) return `"${odd.slice(0, 60)}" is no line of an accuracy log.`;
  if (!text.startsWith('[')) return 'It does not begin with "[".';
  return text.trimEnd().endsWith(']') ? undefined : 'It does not end with "]".';
}

function isLogLine(line: string): boolean {
  const text = line.trim();
  if (text === '' || text === '[' || text === ']') return true;
  try {
    return isRecord(JSON.parse(text.replace(/,$/, '')));
  } catch {
    return false;
  }
}
