import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describeSystemError } from '../../../../shared/base/errors/mlperf-error.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { runLog } from './run-log.ts';
import type { CheckContext, JsonObject } from './sites.ts';

/** Largest document read as a whole; the official ones have a few kB. */
export const DOCUMENT_BYTES_MAX: number = 4 * 2 ** 20;

/**
 * Text of a small file; undefined if it is not text, which is then a finding.
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
 * Text of a small file for the official tools, which crash if it is not UTF-8: that is a finding.
 */
export function readToolText(context: CheckContext, path: string): string | undefined {
  const text = readDocument(context, path);
  // The file is read again only if a byte was not UTF-8.
  if (text === undefined || !text.includes('\ufffd')) return text;
  if (isUtf8(readFileSync(context.listing.pathOf(path)))) return text;
  context.findings.add('not-utf8', path, 'It has bytes that are not UTF-8.');
  return undefined;
}

/** Lines of a small file; empty if it cannot be read, which is then a finding. */
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

/** A JSON object of a tree; undefined if the file has none, which is then a finding. */
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
 * @returns Undefined if the log is missing or empty, which is a finding.
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

/** Full message of any thrown value, with all lines. */
export function wholeMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Files that the official lists allow in addition. */
const TOLERATED_IN_V05: readonly string[] = ['mlperf_log_trace.json', 'results.json'];
const TOLERATED: readonly string[] = [...TOLERATED_IN_V05, '.gitkeep'];

/** Files of a power measurement beside the logs. */
export const POWER_LOG = 'spl.txt';

/** Files that every run's folder needs. */
export const LOGS: readonly string[] = [RUN_FILES.summary, RUN_FILES.detail];

/** True if a required folder exists; otherwise adds a finding. */
export function needFolder({ listing, findings }: CheckContext, folder: string): boolean {
  const isThere = listing.hasFolder(folder);
  if (!isThere) findings.add('missing-folder', folder, 'There is no such folder.');
  return isThere;
}

/**
 * Compares a folder with the list of its required files.
 * @param allowed Further allowed files.
 * @param extra Rule about other files.
 * @returns False if the folder is missing (a finding); its files then need no check.
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

/** Checks that a required file exists and is not empty. @returns False if not. */
export function checkPresent({ listing, findings }: CheckContext, path: string): boolean {
  const bytes = listing.bytesOf(path);
  if (bytes === undefined) findings.add('missing-file', path, 'There is no such file.');
  else if (bytes === 0) findings.add('empty-file', path, 'It has no bytes.');
  return bytes !== undefined && bytes > 0;
}
