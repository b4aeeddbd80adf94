import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { readAccuracyLog } from '../../loadgen/logs/read/accuracy-log-reader.ts';
import { sha256OfFile } from '../tree/file-work.ts';
import { CUT_SIZE, isCutLog } from './cut-log.ts';
import { hashIn } from './hash-line.ts';
import type { LogPlace } from './log-places.ts';
import { readTextIfThere } from './originals.ts';

/** How far the truncation of a log is. */
export type LogState = {
  readonly place: LogPlace;
  /** Size of the log in the tree. */
  readonly bytes: number;
  /** accuracy.txt; empty where there is none. */
  readonly text: string;
  /** SHA-256 of the whole log, in hexadecimal. */
  readonly sha256: string;
} & (
  | { readonly step: 'untouched' | 'hash-written' }
  /** Cut, or left whole because it is short; nothing is to be done. */
  | { readonly step: 'done'; readonly isCut: boolean }
  /** Nothing can be done before someone has put this right. */
  | { readonly step: 'wrong'; readonly problem: string }
);

/**
 * Looks at a log and its accuracy.txt. A log that is not truncated is read to its end: once it is cut, nobody could
 * see any more that it was damaged.
 * @throws MlperfError `ERR_OUTPUT` when a file cannot be read.
 */
export async function logState(tree: string, place: LogPlace): Promise<LogState> {
  const log = join(tree, place.log);
  const textPath = join(tree, place.text);
  const text = await readTextIfThere(textPath);
  const hash = hashIn(text);
  const { size: bytes } = await stat(log);
  const wrong = (problem: string, sha256 = ''): LogState => ({
    ...{ place, bytes, text, sha256, problem },
    step: 'wrong',
  });
  if (await isCutLog(log, bytes)) {
    if (hash !== undefined) return { place, bytes, text, sha256: hash, step: 'done', isCut: true };
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
  const state = { place, bytes, text, sha256 };
  if (hash === undefined) return { ...state, step: 'untouched' };
  if (hash !== sha256) {
    return wrong(
      `${place.text} has the hash of another log than ${place.log} (${hash}, the log has ${sha256}): ` +
        'remove that line if the log was made again',
      sha256,
    );
  }
  // Between the hash and the cut there was an interruption, or there is nothing to cut.
  return bytes < CUT_SIZE
    ? { ...state, step: 'done', isCut: false }
    : { ...state, step: 'hash-written' };
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
