import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { percentOf } from '../../../shared/base/process/terminal.ts';
import { readAccuracyLog } from '../../loadgen/logs/read/accuracy-log-reader.ts';
import type { RunHost } from '../../run/host/host.ts';
import { roundOfTree } from '../check/check-tree.ts';
import { renewCheckerLogs } from '../check/checker-log.ts';
import type { SubmissionRound } from '../rules/submission-rounds.ts';
import { copyChecked, readTextIfThere, replaceFile, sha256OfFile } from '../tree/file-work.ts';
import { CUT_SIZE, cutLog, hashIn, isCutLog, withHash, withoutHash } from './cut-log.ts';
import { findLogPlaces, type LogPlace } from './log-places.ts';
import { type Originals, openOriginals } from './originals.ts';

/** A tree whose accuracy logs are truncated or restored. */
interface Truncation {
  readonly tree: string;
  readonly round: SubmissionRound;
  /** Folder for the originals, outside the tree. */
  readonly backup: string;
  /** Called before each log. */
  readonly onProgress?: (fraction: number, what: string) => void;
}

/**
 * Truncates a tree's accuracy logs like the round's truncate_accuracy_log.py, byte for byte: the
 * whole log's hash goes to accuracy.txt, and the log keeps its beginning and end. All logs are read
 * before the first is changed, and every original is stored before its log is changed; a second run
 * has no effect, and one after an interruption continues.
 * @returns The logs changed or found. If there are problems, no log was changed. Rule:
 *   submission_rules, "For some models mlperf_log_accuracy.json can get very large".
 * @throws MlperfError `ERR_CONFIG_FILE` (no tree, or of another round), `ERR_CONFIG_INVALID`
 *   (backup in the tree), `ERR_OUTPUT`
 */
export async function truncateTree(truncation: Truncation) {
  const { tree, round, onProgress } = truncation;
  const { found, problems, originals } = await lookAtLogs(truncation, (place, i, count) => {
    onProgress?.(i / count, 'reading the accuracy logs');
    return logState(tree, place);
  });
  await keepOriginals(truncation, found, originals);
  const logs: Awaited<ReturnType<typeof truncateLog>>[] = [];
  for (const state of found) {
    onProgress?.(logs.length / found.length, 'truncating the accuracy logs');
    logs.push(await truncateLog(tree, state, round));
  }
  return { logs, problems };
}

/**
 * Inspects every accuracy log of a tree. @param look Returns a text if a log has a problem.
 * @returns The logs found; empty if there are problems.
 */
async function lookAtLogs<T extends object>(
  { tree, round, backup }: Truncation,
  look: (
    place: LogPlace,
    i: number,
    count: number,
    kept: Originals,
  ) => Promise<T | string | undefined>,
) {
  const places = findLogPlaces(tree, round);
  const originals = await openOriginals(backup, tree);
  const problems: string[] = [];
  const found: T[] = [];
  for (const [i, place] of places.entries()) {
    const one = await look(place, i, places.length, originals);
    if (typeof one === 'string') problems.push(one);
    else if (one !== undefined) found.push(one);
  }
  return { found: problems.length > 0 ? [] : found, problems, originals };
}

async function keepOriginals(
  { onProgress }: Truncation,
  states: readonly LogState[],
  originals: Originals,
): Promise<void> {
  const left = states.filter(
    ({ step, place, sha256 }) =>
      // After an interruption the original is already stored, with accuracy.txt as it was before
      // the hash.
      step === 'untouched' ||
      (step === 'hash-written' && originals.find(place, sha256) === undefined),
  );
  if (left.length === 0) return;
  for (const [i, { place, sha256 }] of left.entries()) {
    onProgress?.(i / left.length, 'keeping the originals');
    await originals.keep(place, sha256);
  }
  await originals.writeList();
}

/**
 * @returns The log, relative to the tree, with its size before (for one truncated earlier, its
 *   current size).
 */
async function truncateLog(
  tree: string,
  { place, bytes, text, sha256, step }: LogState,
  round: SubmissionRound,
) {
  const found = { log: place.log, bytes, sha256 };
  if (step === 'done') return { ...found, outcome: 'done' as const };
  if (step === 'untouched') {
    const isHashOnly = place.textBefore === 'hash-only';
    const hashed = isHashOnly ? `hash=${sha256}\n` : withHash(text, sha256, round);
    await replaceFile(join(tree, place.text), hashed);
  }
  if (bytes < CUT_SIZE) return { ...found, outcome: 'whole' as const };
  const log = join(tree, place.log);
  await replaceFile(log, await cutLog(log, bytes));
  return { ...found, outcome: 'cut' as const };
}

/**
 * Inspects a log and its accuracy.txt. A log that is not truncated is read completely, since damage
 * cannot be detected after truncation.
 * @returns Size of the log in the tree, accuracy.txt (empty if missing), SHA-256 of the whole
 *   log, and the progress of truncation; `done` means truncated, or left whole because it is short.
 *   A text if there is a problem.
 * @throws MlperfError `ERR_OUTPUT` if a file cannot be read.
 */
async function logState(tree: string, place: LogPlace) {
  const log = join(tree, place.log);
  const textPath = join(tree, place.text);
  const text = await readTextIfThere(textPath);
  const hash = hashIn(text);
  const { size: bytes } = await stat(log);
  const seen = { place, bytes, text };
  if (await isCutLog(log, bytes)) {
    if (hash !== undefined) return { ...seen, sha256: hash, step: 'done' as const };
    return `${place.log} is truncated, and ${place.text} has no line "hash=": put the original log back`;
  }
  if (!existsSync(textPath) && place.textBefore === 'needed') {
    return `${place.text} is missing: write it first ("longhaul accuracy ${place.log} --benchmark ... --output ${place.text}")`;
  }
  const damage = await damageOf(log);
  if (damage !== undefined) return damage;
  const sha256 = await sha256OfFile(log);
  if (hash === undefined) return { ...seen, sha256, step: 'untouched' as const };
  if (hash !== sha256) {
    return (
      `${place.text} has the hash of another log than ${place.log} (${hash}, the log has ${sha256}): ` +
      'remove that line if the log was made again'
    );
  }
  // Interrupted between hash and truncation, or the log is short.
  const isShort = bytes < CUT_SIZE;
  return { ...seen, sha256, step: isShort ? ('done' as const) : ('hash-written' as const) };
}

type LogState = Exclude<Awaited<ReturnType<typeof logState>>, string>;

async function damageOf(log: string): Promise<string | undefined> {
  try {
    for await (const _entry of readAccuracyLog(log)) {
      // Only needs to be read to its end.
    }
    return undefined;
  } catch (error) {
    if (error instanceof MlperfError) return error.message;
    throw error;
  }
}

/**
 * Reverts a truncation: restores whole logs and accuracy.txt without hash from the originals, whose
 * checksums are compared before anything is changed. Logs that are not truncated are unchanged.
 * @returns The restored logs, relative to the tree. If there are problems, no log was changed.
 * @throws MlperfError as truncateTree does.
 */
export async function restoreTree(truncation: Truncation) {
  const { tree, backup } = truncation;
  const { found, problems } = await lookAtLogs(truncation, (place, _i, _count, originals) =>
    findOriginal(tree, place, originals),
  );
  for (const { place, sha256, original, text } of found) {
    // The log comes first: if the work stops here, the hash in accuracy.txt is that of the log.
    await copyChecked(join(backup, original.log), join(tree, place.log), sha256);
    if (text === undefined) await rm(join(tree, place.text));
    else await replaceFile(join(tree, place.text), text);
  }
  return { logs: found.map(({ place }) => place.log), problems };
}

/**
 * @returns The original of a truncated log, and its earlier accuracy.txt (undefined: there was
 *   none); a text if there is a problem; undefined if the log is not truncated.
 */
async function findOriginal(tree: string, place: LogPlace, originals: Originals) {
  const textNow = await readTextIfThere(join(tree, place.text));
  const sha256 = hashIn(textNow);
  if (sha256 === undefined) return undefined;
  const original = originals.find(place, sha256);
  if (original === undefined) {
    return `${originals.folder} has no original of ${place.log} with SHA-256 ${sha256}`;
  }
  for (const kept of [original.log, ...(original.text === undefined ? [] : [original.text])]) {
    if ((await sha256OfFile(join(originals.folder, kept))) !== originals.checksumOf(kept)) {
      return `${join(originals.folder, kept)} was changed: it has not the SHA-256 of its list`;
    }
  }
  const text =
    original.text === undefined
      ? undefined
      : await readTextIfThere(join(originals.folder, original.text));
  if (place.textBefore !== 'hash-only' && withoutHash(textNow) !== withoutHash(text ?? '')) {
    return `${place.text} was changed after the truncation: put what is new aside, it would be lost`;
  }
  return { place, sha256, original, text };
}

/** Flags of `longhaul submission truncate`. */
interface TruncateValues {
  /** Undefined: the round of the logs' seeds. */
  readonly round: SubmissionRound | undefined;
  /** Folder for the originals. */
  readonly backup: string;
  /** True: restores the originals. */
  readonly restore: boolean;
}

/**
 * Truncates a tree's accuracy logs, or restores the originals, and then updates the self-check's
 * text.
 * @returns `isDone` is false if a log has errors, and no log was changed.
 * @throws MlperfError `ERR_CONFIG_FILE` without a tree, `ERR_CONFIG_INVALID` for a tree of
 *   another round, `ERR_OUTPUT`
 */
export async function truncateChecked(
  tree: string,
  values: TruncateValues,
  host: Pick<RunHost, 'report' | 'progress'>,
) {
  const { backup, restore: isRestored } = values;
  const round = await roundOfTree(tree, values.round);
  if (round === 'v0.5') {
    const why = 'its accuracy logs are submitted as they are';
    throw configInvalid(`${tree} is of round v0.5, which truncates nothing: ${why}`);
  }
  const { logs, hasChanged, problems, summary, lines } = await (isRestored ? restore : truncate)({
    tree,
    round,
    backup,
    onProgress: (fraction, what) => host.progress?.(what, percentOf(fraction)),
  });
  if (hasChanged) {
    host.progress?.('checking the tree');
    await renewCheckerLogs(tree, round);
  }
  host.progress?.(null);
  for (const problem of problems) host.report(problem);
  const isDone = problems.length === 0;
  if (!isDone) host.report('No log was changed.');
  return {
    isDone,
    text: isDone ? [...lines, summary].map((line) => `${line}\n`).join('') : '',
    json: { tree, round, backup, isRestored, hasChanged, logs, problems },
  };
}

async function truncate(truncation: Truncation) {
  const { logs, problems } = await truncateTree(truncation);
  const counts = { cut: 0, whole: 0, done: 0 };
  for (const { outcome } of logs) counts[outcome] += 1;
  const { cut, whole, done } = counts;
  const hasChanged = done < logs.length;
  const summary =
    logs.length === 0
      ? `${truncation.tree} has no accuracy log to truncate`
      : hasChanged
        ? `Accuracy logs: ${cut} cut, ${whole} left whole, ${done} done before; the originals are in ${truncation.backup}: keep them in house`
        : `Accuracy logs: all ${done} were truncated before and stay as they are`;
  const lines = logs.map(({ log, outcome, bytes, sha256 }) => {
    const what = outcome === 'done' ? 'done before' : `${bytes} bytes, ${WORDS[outcome]}`;
    return `${log}: ${what}, hash ${sha256}`;
  });
  return { logs, summary, hasChanged, problems, lines };
}

const WORDS = { cut: 'cut', whole: 'left whole' };

async function restore(truncation: Truncation) {
  const { logs, problems } = await restoreTree(truncation);
  const hasChanged = logs.length > 0;
  const summary = hasChanged
    ? `Accuracy logs: ${logs.length} are whole again`
    : `No accuracy log of ${truncation.tree} is truncated: all stay as they are`;
  const restored = logs.map((log) => ({ log, outcome: 'restored' as const }));
  const lines = logs.map((log) => `${log}: the original is back`);
  return { logs: restored, summary, hasChanged, problems, lines };
}
