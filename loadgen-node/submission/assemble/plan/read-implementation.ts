import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { sha256OfFile } from '../../tree/file-work.ts';
import { TREE_FILE_BYTES_MAX } from '../../tree/tree-layout.ts';
import type { ImplementationEntry, WeightsEntry } from '../config/config-schema.ts';
import {
  type Problems,
  readTextFile,
  type SubmissionConfig,
} from '../config/read-submission-config.ts';

/** Reads what an implementation brings: code, scripts, weights, the calibration text. */
export async function readImplementation(
  { entry: { implementations }, resolve }: SubmissionConfig,
  id: string,
  all: Problems,
) {
  const entry = implementations[id] as ImplementationEntry;
  const problems = all.at('implementations', id);
  const files = new Map<string, string>();
  for (const key of ['code', 'scripts'] as const) {
    const found = collectFiles(entry[key].map(resolve));
    for (const text of found.problems) problems.at(key).error(text);
    if (found.skippedCount > 0) {
      problems
        .at(key)
        .warn(
          `${found.skippedCount} entries are left out (names with a leading dot, node_modules, __pycache__)`,
        );
    }
    for (const [name, file] of found.files) files.set(name, file);
  }
  if (entry.scripts.length === 0) {
    problems.warn(
      'no "scripts": the rules want scripts that set up and run; run.sh is made from the runs, setting up is yours to tell',
    );
  }
  if (entry.run_commands === undefined) {
    problems.warn('no "run_commands": no README of the tree tells how the SUT nodes are started');
  }
  const weights: Awaited<ReturnType<typeof readWeights>>[] = [];
  for (const [i, one] of entry.weights.entries()) {
    const place = problems.at('weights', i);
    const read = await place.attempt(() => readWeights(one, resolve, place));
    if (read !== undefined) weights.push(read);
  }
  const { text, file = '' } = entry.calibration;
  const read = (): string => text ?? readTextFile(resolve(file));
  const calibration = (await problems.at('calibration').attempt(read)) ?? '';
  return {
    ...{ id, entry },
    /** Path below the implementation's code folder → file here. */
    files: files as ReadonlyMap<string, string>,
    ...{ weights, calibration },
  };
}

/** An implementation with the files that it brings. */
export type PlannedImplementation = Awaited<ReturnType<typeof readImplementation>>;

/**
 * Name, SHA-256 in lower case and size of weights, as stated or as their file tells.
 * @returns `file` is the path of the file where it goes into the tree.
 */
async function readWeights(
  { file, source, sha256, bytes: statedBytes }: WeightsEntry,
  resolve: (path: string) => string,
  problems: Problems,
) {
  const stated = sha256?.toLowerCase() ?? '';
  if (file === undefined) {
    const name = source ?? '';
    return { name, file: undefined, source, sha256: stated, bytes: statedBytes };
  }
  const path = resolve(file);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) {
    const text = stat === undefined ? `there is no file ${path}` : `${path} is no file`;
    throw new MlperfError('ERR_CONFIG_FILE', `${text} with weights`);
  }
  const hash = await sha256OfFile(path);
  if (sha256 !== undefined && stated !== hash) {
    problems.error(`${path} has the SHA-256 ${hash}, not ${sha256}`);
  }
  const bytes = stat.size;
  const isSmall = bytes <= TREE_FILE_BYTES_MAX;
  if (!isSmall && source === undefined) {
    problems.error(
      `${path} has ${bytes} bytes; the checkers refuse files above 50 MiB: add "source", where the weights can be had`,
    );
  }
  return { name: basename(path), file: isSmall ? path : undefined, source, sha256: hash, bytes };
}

/** Folders that hold what can be made again, and that no reviewer reads. */
const SKIPPED = new Set(['node_modules', '__pycache__']);

/**
 * Finds the files of paths that go into a tree: a file under its name, a folder with all that is in it.
 * Names with a leading dot are left out, names with blanks refused, as the official checkers want it.
 * @returns Path in the tree, with forward slashes → file here, links followed; what is wrong, in whole sentences.
 */
export function collectFiles(paths: readonly string[]) {
  const files = new Map<string, string>();
  const problems: string[] = [];
  let skippedCount = 0;
  const addFile = (path: string, name: string): void => {
    if (/\s/.test(name)) problems.push(`${path} has a blank in its name: the checkers refuse it`);
    const { size } = statSync(path);
    if (size > TREE_FILE_BYTES_MAX) {
      problems.push(`${path} has ${size} bytes: the checkers refuse files above 50 MiB`);
    }
    if (files.has(name)) problems.push(`${path} and ${files.get(name)} would both be ${name}`);
    files.set(name, path);
  };
  /** @param parents Real paths of the folders above: a link to one of them would never end. */
  const add = (path: string, name: string, parents: readonly string[]): void => {
    if (!statSync(path).isDirectory()) {
      addFile(path, name);
      return;
    }
    const real = realpathSync(path);
    if (parents.includes(real)) {
      problems.push(`${path} is a link to a folder above it`);
      return;
    }
    for (const entry of readdirSync(path).sort()) {
      const inner = join(path, entry);
      if (entry.startsWith('.') || SKIPPED.has(entry)) skippedCount += 1;
      else if (!existsSync(inner)) problems.push(`${inner} is a link to nothing`);
      else add(inner, `${name}/${entry}`, [...parents, real]);
    }
  };
  for (const path of paths) {
    if (existsSync(path)) add(path, basename(path), []);
    else problems.push(`${path} is not there`);
  }
  return { files, problems, skippedCount };
}
