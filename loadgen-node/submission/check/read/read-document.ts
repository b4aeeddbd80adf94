import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describeSystemError } from '../../../../shared/base/errors/mlperf-error.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { runLog } from './run-log.ts';
import type { CheckContext, JsonObject } from './sites.ts';

/** Largest document that is read as a whole; the official ones are of a few kilobytes. */
export const DOCUMENT_BYTES_MAX: number = 4 * 2 ** 20;

/**
 * Text of a small file; undefined where it is no text, and then a finding says why.
 * @param path A file that is in the listing.
 */
export function readDocument(context: CheckContext, path: string): string | undefined {
  const { listing, findings } = context;
  const bytes = listing.bytesOf(path) ?? 0;
  if (bytes > DOCUMENT_BYTES_MAX) {
    findings.add('no-plain-file', path, `It has ${bytes} bytes and is not read as a document.`);
    return undefined;
  }
  try {
    return readFileSync(listing.pathOf(path), 'utf8');
  } catch (error) {
    findings.add('no-plain-file', path, `It cannot be read: ${describeSystemError(error)}.`);
    return undefined;
  }
}

/**
 * Text of a small file that the official tools read, and break off at where it is not UTF-8: a
 * finding says so.
 */
export function readToolText(context: CheckContext, path: string): string | undefined {
  const text = readDocument(context, path);
  // The file is read again only where a byte was no UTF-8.
  if (text === undefined || !text.includes('\ufffd')) return text;
  if (isUtf8(readFileSync(context.listing.pathOf(path)))) return text;
  context.findings.add('not-utf8', path, 'It has bytes that are not UTF-8.');
  return undefined;
}

/** Lines of a small file; none where it cannot be read, and then a finding says why. */
export function documentLines(context: CheckContext, path: string): string[] {
  return linesOf(readDocument(context, path));
}

/** Lines of {@link readToolText}. */
export function toolLines(context: CheckContext, path: string): string[] {
  return linesOf(readToolText(context, path));
}

function linesOf(text = ''): string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** A JSON object of a tree; undefined where the file holds none, and then a finding says why. */
export function readJsonObject(context: CheckContext, path: string): JsonObject | undefined {
  const text = readToolText(context, path);
  if (text === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    context.findings.add('json-broken', path, `It is not JSON: ${why}.`);
    return undefined;
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
    return parsed as JsonObject;
  }
  context.findings.add('json-broken', path, `It holds ${JSON.stringify(parsed).slice(0, 40)}.`);
  return undefined;
}

/**
 * Reads the detail log of a folder and checks the file itself.
 * @returns Undefined where the log is missing or empty: a finding says so.
 */
export async function readRunLog(context: CheckContext, folder: string) {
  const { listing, findings, readLog } = context;
  const file = posix.join(folder, RUN_FILES.detail);
  if (!listing.hasFile(file)) return undefined;
  const detail = await readLog(file).catch((error: unknown) => {
    findings.add('no-plain-file', file, `It cannot be read: ${wholeMessage(error)}.`);
  });
  if (detail === undefined) return undefined;
  const log = runLog(file, detail);
  findings.check('log', { file, log });
  return detail.records.size === 0 ? undefined : log;
}

/** Message of anything thrown, with all its lines. */
export function wholeMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Files that the official lists let lie beside the others. */
const TOLERATED_IN_V05: readonly string[] = ['mlperf_log_trace.json', 'results.json'];
const TOLERATED: readonly string[] = [...TOLERATED_IN_V05, '.gitkeep'];

/** Files of a power measurement beside the logs. */
export const POWER_LOG = 'spl.txt';

/** Files that every run's folder needs. */
export const LOGS: readonly string[] = [RUN_FILES.summary, RUN_FILES.detail];

/** Whether a folder is there that has to be; a finding says so where not. */
export function needFolder({ listing, findings }: CheckContext, folder: string): boolean {
  const isThere = listing.hasFolder(folder);
  if (!isThere) findings.add('missing-folder', folder, 'There is no such folder.');
  return isThere;
}

/**
 * Compares a folder with the list of its files.
 * @param allowed Files that may lie there as well.
 * @param extra Rule about other files.
 * @returns False where the folder is missing: a finding says so, and its files need no
 *   check.
 */
export function checkFileList(
  context: CheckContext,
  folder: string,
  needed: readonly string[],
  allowed: readonly string[],
  extra: 'extra-file' | 'test-extra-file' = 'extra-file',
): boolean {
  const { listing, findings } = context;
  if (!needFolder(context, folder)) return false;
  const { files } = listing.entries(folder);
  for (const name of needed) {
    if (files.includes(name)) continue;
    findings.add('missing-file', posix.join(folder, name), `${name} is missing.`);
  }
  const beside = context.round === 'v0.5' ? TOLERATED_IN_V05 : [...allowed, ...TOLERATED];
  for (const name of files) {
    if ([...needed, ...beside].includes(name)) continue;
    findings.add(extra, posix.join(folder, name), `${name} does not belong to this folder.`);
  }
  return true;
}

/** A required file that has something in it. @returns False where it has not. */
export function checkPresent({ listing, findings }: CheckContext, path: string): boolean {
  const bytes = listing.bytesOf(path);
  if (bytes === undefined) findings.add('missing-file', path, 'There is no such file.');
  else if (bytes === 0) findings.add('empty-file', path, 'It has no bytes.');
  return bytes !== undefined && bytes > 0;
}
