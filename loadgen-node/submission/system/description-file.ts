import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { makeFolder } from '../../../shared/base/files/make-folder.ts';
import type { SystemDescription } from './compose-description.ts';
import { type FactsFile, factsPathOf } from './facts-file.ts';

/** Where a description goes, and what allows it to replace another. */
export interface DescriptionTarget {
  readonly path: string;
  /** The user's file that is merged; it may be the description itself. */
  readonly mergePath: string | undefined;
  readonly isForced: boolean;
}

/**
 * Refuses to replace a description that somebody may have filled in. Asked before any work.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function checkDescriptionTarget({ path, mergePath, isForced }: DescriptionTarget): void {
  if (isForced || !existsSync(path)) return;
  if (mergePath !== undefined && existsSync(mergePath) && isSameFile(path, mergePath)) return;
  throw new MlperfError(
    'ERR_OUTPUT',
    `${path} is there already: keep what it says with --merge ${path}, or replace it with --force`,
  );
}

function isSameFile(one: string, other: string): boolean {
  return realpathSync(one) === realpathSync(other);
}

/** Writes the description and, beside it, the facts. @throws MlperfError `ERR_OUTPUT` */
export function writeDescription(
  path: string,
  description: SystemDescription,
  facts: FactsFile,
): void {
  const files = [
    [factsPathOf(path), facts],
    [path, description],
  ] as const;
  for (const [file, content] of files) {
    try {
      makeFolder(dirname(file));
      writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
    } catch (error) {
      throw outputError(`cannot write ${file}`, error);
    }
  }
}
