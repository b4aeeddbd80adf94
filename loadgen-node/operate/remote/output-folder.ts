import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { errorCodeOf, outputError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { atExit } from './hosts/at-exit.ts';

/** Begins the name of the folder in which files are collected: whoever else wants the output folder sees that it is taken. */
const PARTIAL = '.fetching-';

/** A folder as it is named in messages: without a slash at its end. */
export function folderName(output: string): string {
  return normalize(output).replace(/(?<=.)\/$/, '');
}

/**
 * Folder of a run's results here. It is this run's own from the start. Files are collected in a folder inside it and get their place
 * when all are there. Nothing that somebody else put there is ever removed.
 */
export class OutputFolder {
  /** Where files are collected, as messages name it. */
  readonly partial: string;
  readonly #name: string;
  /** Empty ones of these are removed again where nothing came, the innermost first. */
  readonly #made: readonly string[];
  readonly #forget: () => void;

  private constructor(name: string, partial: string, made: readonly string[]) {
    this.#name = name;
    this.partial = partial;
    this.#made = made;
    this.#forget = atExit(() => this.#removeEmpty());
  }

  /** Makes the folder, and folders above it. @throws MlperfError `ERR_OUTPUT` where it cannot be made or has something in it */
  static claim(output: string): OutputFolder {
    const name = folderName(output);
    let made: string[] = [];
    try {
      made = foldersBetween(mkdirSync(resolve(name), { recursive: true }), resolve(name));
      checkEmpty(name, undefined);
      const folder = new OutputFolder(name, mkdtempSync(join(name, PARTIAL)), made);
      try {
        // Another run may have come in the same moment.
        checkEmpty(name, folder.partial);
      } catch (error) {
        folder.release();
        throw error;
      }
      return folder;
    } catch (error) {
      for (const one of made) removeIfEmpty(one);
      throw orOutputError(error, `${name} cannot hold the results`);
    }
  }

  /** Gives what was fetched its place. @throws MlperfError `ERR_OUTPUT` that says where it is instead */
  place(): void {
    try {
      const entries = entriesOf(this.partial);
      if (entries.length === 0) return;
      checkEmpty(this.#name, this.partial);
      for (const entry of entries) {
        renameSync(join(this.partial, entry), join(this.#name, entry));
      }
    } catch (error) {
      const { message } = orOutputError(error, `${this.#name} cannot hold the results`);
      const text = `${message}; what was fetched is in ${this.partial}`;
      throw new MlperfError('ERR_OUTPUT', text, { cause: error });
    }
  }

  /** Removes what this run made and nothing came into. */
  release(): void {
    this.#forget();
    this.#removeEmpty();
  }

  #removeEmpty(): void {
    for (const one of [this.partial, ...this.#made]) removeIfEmpty(one);
  }
}

/** Those that were made for a folder, it first. @param first Undefined when it was there */
function foldersBetween(first: string | undefined, folder: string): string[] {
  if (first === undefined) return [];
  const all = [folder];
  for (let one = folder; one !== first && dirname(one) !== one; ) {
    one = dirname(one);
    all.push(one);
  }
  return all;
}

/** @throws MlperfError `ERR_OUTPUT` */
function checkEmpty(name: string, partial: string | undefined): void {
  const own = partial === undefined ? undefined : basename(partial);
  const other = readdirSync(name).find((entry) => entry !== own);
  if (other === undefined) return;
  const why = other.startsWith(PARTIAL)
    ? `another run brings its results there, or left them in ${other}`
    : `it has ${other}`;
  const text = `${name} is not empty: ${why}; --output names a folder of its own`;
  throw new MlperfError('ERR_OUTPUT', text);
}

/** Empty where there is no such folder. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody's files are in it, or it is gone.
  }
}

function orOutputError(error: unknown, what: string): MlperfError {
  if (error instanceof MlperfError) return error;
  return outputError(what, error);
}
