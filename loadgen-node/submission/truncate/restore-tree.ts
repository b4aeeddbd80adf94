import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { copyChecked, readTextIfThere, replaceFile, sha256OfFile } from '../tree/file-work.ts';
import { hashIn, withoutHash } from './cut-log.ts';
import { findLogPlaces, type LogPlace } from './log-places.ts';
import { type KeptOriginal, Originals } from './originals.ts';
import type { Truncation } from './truncate-tree.ts';

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
async function findOriginal(
  tree: string,
  place: LogPlace,
  originals: Originals,
): Promise<Restoration | string | undefined> {
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
