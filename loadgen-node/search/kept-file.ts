import { renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { outputError } from '../../shared/base/errors/mlperf-error.ts';
import { makeFolder } from '../../shared/base/files/read-file.ts';

/**
 * Writes a document whole or not at all: the file of before stays when the process is killed in the middle.
 * @throws MlperfError `ERR_OUTPUT`
 */
export function writeKept(path: string, document: object, indent = 2): void {
  try {
    makeFolder(dirname(path));
    writeFileSync(`${path}.part`, `${JSON.stringify(document, null, indent)}\n`);
    renameSync(`${path}.part`, path);
  } catch (error) {
    throw outputError(`cannot write ${path}`, error);
  }
}

/** What must be the same for a search to go on, or for two to be compared: by name, as texts for people. */
export type Question = Readonly<Record<string, string>>;

/** A line for each name whose text differs. @param lineOf Takes name and texts; a text that is not there is "not set". */
export function questionDifferences(
  one: Question,
  other: Question,
  lineOf: (name: string, one: string, other: string) => string,
): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names]
    .filter((name) => one[name] !== other[name])
    .map((name) => lineOf(name, one[name] ?? 'not set', other[name] ?? 'not set'));
}
