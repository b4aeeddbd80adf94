import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { percentOf } from '../../../shared/base/process/terminal.ts';
import type { VerbResult } from '../../../shared/config/command-line.ts';
import { readAccuracyLog } from '../../loadgen/logs/read/accuracy-log-reader.ts';
import type { RunHost } from '../../run/host/host.ts';
import { roundOfTree } from '../check/check-tree.ts';
import { renewCheckerLogs } from '../check/checker-log.ts';
import type { SubmissionRound } from '../rules/submission-rounds.ts';
import { copyChecked, readTextIfThere, replaceFile, sha256OfFile } from '../tree/file-work.ts';
import { CUT_SIZE, cutLog, hashIn, isCutLog, withHash, withoutHash } from './cut-log.ts';
import { findLogPlaces, type LogPlace } from './log-places.ts';
import { type KeptOriginal, Originals } from './originals.ts';

/** A tree whose accuracy logs are cut or put back. */
interface Truncation {
  readonly tree: string;
  readonly round: SubmissionRound;
  /** Folder for the originals, outside of the tree. */
  readonly backup: string;
  /** Called before each log. */
  readonly onProgress?: (fraction: number, what: string) => void;
}

/** How far the truncation of a log is. */
type LogState = {
  readonly place: LogPlace;
  /** Size of the log in the tree. */
  readonly bytes: number;
  /** accuracy.txt; empty where there is none. */
  readonly text: string;
  /** SHA-256 of the whole log, in hexadecimal. */
  readonly sha256: string;
} /** `done`: cut, or left whole because it is short. */ & (
  | { readonly step: 'untouched' | 'hash-written' | 'done' }
  /** Nothing can be done before someone has put this right. */
  | { readonly step: 'wrong'; readonly problem: string }
);

/** An accuracy log after a truncation. */
interface TruncatedLog {
  /** Relative to the tree. */
  readonly log: string;
  /**
   * `cut`, left `whole` because it is shorter than 4096 bytes, or `done` by an earlier truncation.
   */
  readonly outcome: 'cut' | 'whole' | 'done';
  /** Size before; of a log that was cut earlier its size now. */
  readonly bytes: number;
  /** SHA-256 of the whole log. */
  readonly sha256: string;
}

/**
 * Cuts the accuracy logs of a tree as the round's truncate_accuracy_log.py does, byte for byte: the hash of the whole
 * log goes to accuracy.txt, of the log its beginning and end stay. Every log is looked at before the first one is
 * changed, and every original is kept before its log is; a second run changes nothing, and one after an
 * interruption goes on.
 * @returns The logs that were changed or found. With problems, in words, nothing was changed.
 * Rule: submission_rules, "For some models mlperf_log_accuracy.json can get very large".
 * @throws MlperfError `ERR_CONFIG_FILE` (no tree, or of another round), `ERR_CONFIG_INVALID` (backup in the tree),
 *   `ERR_OUTPUT`
 */
export async function truncateTree(truncation: Truncation) {
  const { tree, round, backup, onProgress } = truncation;
  const places = findLogPlaces(tree, round);
  const originals = await Originals.open(backup, tree);
  const states: LogState[] = [];
  for (const place of places) {
    onProgress?.(states.length / places.length, 'reading the accuracy logs');
    states.push(await logState(tree, place));
  }
  const problems = states.flatMap((state) => (state.step === 'wrong' ? [state.problem] : []));
  const logs: TruncatedLog[] = [];
  if (problems.length > 0) return { logs, problems };
  await keepOriginals(truncation, states, originals);
  for (const state of states) {
    onProgress?.(logs.length / states.length, 'truncating the accuracy logs');
    logs.push(await truncateLog(tree, state, round));
  }
  return { logs, problems };
}

async function keepOriginals(
  { tree, onProgress }: Truncation,
  states: readonly LogState[],
  originals: Originals,
): Promise<void> {
  const left = states.filter(
    ({ step, place, sha256 }) =>
      // After an interruption the original is there already, with accuracy.txt as it was before the
      // hash.
      step === 'untouched' ||
      (step === 'hash-written' && originals.find(place, sha256) === undefined),
  );
  if (left.length === 0) return;
  for (const [i, { place, sha256 }] of left.entries()) {
    onProgress?.(i / left.length, 'keeping the originals');
    await originals.keep(tree, place, sha256);
  }
  await originals.writeList();
}

async function truncateLog(
  tree: string,
  { place, bytes, text, sha256, step }: LogState,
  round: SubmissionRound,
): Promise<TruncatedLog> {
  const found = { log: place.log, bytes, sha256 };
  if (step === 'done') return { ...found, outcome: 'done' };
  if (step === 'untouched') {
    const isHashOnly = place.textBefore === 'hash-only';
    const hashed = isHashOnly ? `hash=${sha256}\n` : withHash(text, sha256, round);
    await replaceFile(join(tree, place.text), hashed);
  }
  if (bytes < CUT_SIZE) return { ...found, outcome: 'whole' };
  const log = join(tree, place.log);
  await replaceFile(log, await cutLog(log, bytes));
  return { ...found, outcome: 'cut' };
}

/**
 * Looks at a log and its accuracy.txt. A log that is not truncated is read to its end: once it is cut, nobody could
 * see any more that it was damaged.
 * @throws MlperfError `ERR_OUTPUT` when a file cannot be read.
 */
async function logState(tree: string, place: LogPlace): Promise<LogState> {
  const log = join(tree, place.log);
  const textPath = join(tree, place.text);
  const text = await readTextIfThere(textPath);
  const hash = hashIn(text);
  const { size: bytes } = await stat(log);
  const seen = { place, bytes, text, sha256: hash ?? '' };
  const wrong = (problem: string): LogState => ({ ...seen, step: 'wrong', problem });
  if (await isCutLog(log, bytes)) {
    if (hash !== undefined) return { ...seen, step: 'done' };
    return wrong(
      `${place.log} is truncated, and ${place.text} has no line "hash=": put the original log back`,
    );
  }
  if (!existsSync(textPath) && place.textBefore === 'needed') {
    return wrong(
      `${place.text} is missing: write it first ("longhaul accuracy ${place.log} --benchmark ... --output ${place.text}")`,
    );
  }
  const damage = await damageOf(log);
  if (damage !== undefined) return wrong(damage);
  const sha256 = await sha256OfFile(log);
  if (hash === undefined) return { ...seen, sha256, step: 'untouched' };
  if (hash !== sha256) {
    return wrong(
      `${place.text} has the hash of another log than ${place.log} (${hash}, the log has ${sha256}): ` +
        'remove that line if the log was made again',
    );
  }
  // Between the hash and the cut there was an interruption, or there is nothing to cut.
  return { ...seen, step: bytes < CUT_SIZE ? 'done' : 'hash-written' };
}

async function damageOf(log: string): Promise<string | undefined> {
  try {
    for await (const _entry of readAccuracyLog(log)) {
      // Reading it to its end is all.
    }
    return undefined;
  } catch (error) {
    if (error instanceof MlperfError) return error.message;
    throw error;
  }
}

/** A truncated log with what its originals say. */
interface Restoration {
  readonly place: LogPlace;
  readonly sha256: string;
  readonly original: KeptOriginal;
  /** accuracy.txt as it was; undefined: there was none. */
  readonly text: string | undefined;
}

/**
 * Takes a truncation back: whole logs and accuracy.txt without hash, out of the originals, whose checksums are
 * compared before anything is changed. Logs that are not truncated stay as they are.
 * @returns The logs that are whole again, relative to the tree. With problems, in words, nothing was changed.
 * @throws MlperfError as truncateTree does.
 */
export async function restoreTree({ tree, round, backup }: Truncation) {
  const originals = await Originals.open(backup, tree);
  const problems: string[] = [];
  const restorations: Restoration[] = [];
  for (const place of findLogPlaces(tree, round)) {
    const found = await findOriginal(tree, place, originals);
    if (typeof found === 'string') problems.push(found);
    else if (found !== undefined) restorations.push(found);
  }
  if (problems.length > 0) return { logs: [], problems };
  for (const { place, sha256, original, text } of restorations) {
    // The log first: whoever finds the hash beside a whole log knows that they belong together.
    await copyChecked(join(backup, original.log), join(tree, place.log), sha256);
    if (text === undefined) await rm(join(tree, place.text));
    else await replaceFile(join(tree, place.text), text);
  }
  return { logs: restorations.map(({ place }) => place.log), problems };
}

/** @returns A text where something is wrong; undefined where the log is not truncated. */
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
  /** Undefined: the round whose seeds the logs have. */
  readonly round: SubmissionRound | undefined;
  /** Folder for the originals. */
  readonly backup: string;
  /** True: the originals are put back. */
  readonly restore: boolean;
}

/**
 * Truncates the accuracy logs of a tree, or puts the originals back, and writes the self-check's text anew where that changed
 * something.
 * @returns `isDone` is false where something is wrong with a log, and nothing was changed.
 * @throws MlperfError `ERR_CONFIG_FILE` where there is no tree, `ERR_CONFIG_INVALID` for one of another round, `ERR_OUTPUT`
 */
export async function truncateChecked(
  tree: string,
  values: TruncateValues,
  host: Pick<RunHost, 'report' | 'progress'>,
): Promise<VerbResult & { readonly isDone: boolean }> {
  const { backup, restore: isRestored } = values;
  const round = await roundOfTree(tree, values.round);
  const truncation: Truncation = {
    ...{ tree, round, backup },
    onProgress: (fraction, what) => host.progress?.(what, percentOf(fraction)),
  };
  const changes = await (isRestored ? restore : truncate)(truncation);
  const { logs, hasChanged, problems } = changes;
  const summary = problems.length > 0 ? [] : [changes.summary];
  if (hasChanged) {
    host.progress?.('checking the tree');
    await renewCheckerLogs(tree, round);
  }
  host.progress?.(null);
  for (const problem of problems) host.report(problem);
  if (problems.length > 0) host.report('Nothing was changed.');
  return {
    isDone: problems.length === 0,
    text: [...logs.map(lineOf), ...summary].map((line) => `${line}\n`).join(''),
    json: { tree, round, backup, isRestored, hasChanged, logs, problems },
  };
}

/** A log that was truncated or, with the name alone, restored. */
type ChangedLog = TruncatedLog | { readonly log: string; readonly outcome: 'restored' };

async function truncate(truncation: Truncation) {
  const { logs, problems } = await truncateTree(truncation);
  const countOf = (outcome: TruncatedLog['outcome']): number =>
    logs.filter((log) => log.outcome === outcome).length;
  const hasChanged = countOf('done') < logs.length;
  const counts = `${countOf('cut')} cut, ${countOf('whole')} left whole, ${countOf('done')} done before`;
  const summary =
    logs.length === 0
      ? `${truncation.tree} has no accuracy log: nothing to truncate`
      : hasChanged
        ? `Accuracy logs: ${counts}; the originals are in ${truncation.backup}: keep them in house`
        : `Accuracy logs: all ${logs.length} were truncated before: nothing was changed`;
  return { logs, summary, hasChanged, problems };
}

async function restore(truncation: Truncation) {
  const { logs, problems } = await restoreTree(truncation);
  const summary =
    logs.length === 0
      ? `No accuracy log of ${truncation.tree} is truncated: nothing was changed`
      : `Accuracy logs: ${logs.length} are whole again`;
  const restored = logs.map((log) => ({ log, outcome: 'restored' as const }));
  return { logs: restored, summary, hasChanged: logs.length > 0, problems };
}

function lineOf(changed: ChangedLog): string {
  const { log, outcome } = changed;
  if (outcome === 'restored') return `${log}: the original is back`;
  const { bytes, sha256 } = changed;
  const what = {
    cut: `${bytes} bytes, cut`,
    whole: `${bytes} bytes, left whole`,
    done: 'done before',
  };
  return `${log}: ${what[outcome]}, hash ${sha256}`;
}
