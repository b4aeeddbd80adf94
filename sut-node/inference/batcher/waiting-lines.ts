import type { SampleOwner, WaitingSample } from './waiting-sample.ts';

/** Samples that may share a batch, oldest first. */
export interface WaitingLine {
  readonly count: number;
  readonly oldest: WaitingSample | undefined;
  /** Takes the `count` oldest samples out. There must be so many. */
  shift(count: number): WaitingSample[];
}

/** All samples that wait for a batch, in one line or in several that do not mix. */
export interface WaitingLines {
  readonly count: number;
  /** The line of the sample that waits longest of all. */
  readonly front: WaitingLine | undefined;
  /** Appends a sample; false when no more may wait. */
  push(sample: WaitingSample): boolean;
  /** Of the lines with `count` samples or more, the one whose oldest sample waits longest. */
  frontOf(count: number): WaitingLine | undefined;
  /** Takes everything out, oldest first. */
  removeAll(): WaitingSample[];
}

/** Drops what an owner that has gone away left there, keeping the order of the rest; returns how many. */
export function removeOwner(lines: WaitingLines, owner: SampleOwner): number {
  const all = lines.removeAll();
  for (const sample of all) {
    if (sample.owner !== owner) lines.push(sample);
  }
  return all.length - lines.count;
}
