import { join } from 'node:path';
import type { SubmissionRound } from '../rules/submission-rounds.ts';
import { replaceFile } from '../tree/file-work.ts';
import { CUT_SIZE, cutLog } from './cut-log.ts';
import { withHash } from './hash-line.ts';
import { findLogPlaces } from './log-places.ts';
import { type LogState, logState } from './log-state.ts';
import { Originals } from './originals.ts';

/** What to truncate. */
export interface Truncation {
  readonly tree: string;
  readonly round: SubmissionRound;
  /** Folder for the originals, outside of the tree. */
  readonly backup: string;
  /** Told before each log. */
  readonly onProgress?: (fraction: number, what: string) => void;
}

/** What became of one log. */
export interface TruncatedLog {
  /** Relative to the tree. */
  readonly log: string;
  /** `cut`, left `whole` because it is shorter than 4096 bytes, or `done` by an earlier truncation. */
  readonly outcome: 'cut' | 'whole' | 'done';
  /** Size before; of a log that was cut earlier its size now. */
  readonly bytes: number;
  /** SHA-256 of the whole log. */
  readonly sha256: string;
}

/** What became of a tree. */
export interface TruncatedTree {
  readonly logs: readonly TruncatedLog[];
  /** Why nothing was changed; empty: all was done. */
  readonly problems: readonly string[];
}

/**
 * Cuts the accuracy logs of a tree as the round's truncate_accuracy_log.py does, byte for byte: the hash of the whole
 * log goes to accuracy.txt, of the log its beginning and end stay. Every log is looked at before the first one is
 * changed, and every original is kept before its log is; a second run changes nothing, and one after an
 * interruption goes on.
 * Rule: submission_rules, "For some models mlperf_log_accuracy.json can get very large".
 * @throws MlperfError `ERR_CONFIG_FILE` (no tree, or of another round), `ERR_CONFIG_INVALID` (backup in the tree),
 *   `ERR_OUTPUT`
 */
export async function truncateTree(truncation: Truncation): Promise<TruncatedTree> {
  const { tree, round, backup, onProgress } = truncation;
  const places = findLogPlaces(tree, round);
  const originals = await Originals.open(backup, tree);
  const states: LogState[] = [];
  for (const place of places) {
    onProgress?.(states.length / places.length, 'reading the accuracy logs');
    states.push(await logState(tree, place));
  }
  const problems = states.flatMap((state) => (state.step === 'wrong' ? [state.problem] : []));
  if (problems.length > 0) return { logs: [], problems };
  await keepOriginals(truncation, states, originals);
  const logs: TruncatedLog[] = [];
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
      // After an interruption the original is there already, with accuracy.txt as it was before the hash.
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
  const told = { log: place.log, bytes, sha256 };
  if (step === 'done') return { ...told, outcome: 'done' };
  if (step === 'untouched') {
    const before = place.textBefore === 'hash-only' ? '' : text;
    const hashed =
      place.textBefore === 'hash-only' ? `hash=${sha256}\n` : withHash(before, sha256, round);
    await replaceFile(join(tree, place.text), hashed);
  }
  if (bytes < CUT_SIZE) return { ...told, outcome: 'whole' };
  const log = join(tree, place.log);
  await replaceFile(log, await cutLog(log, bytes));
  return { ...told, outcome: 'cut' };
}
