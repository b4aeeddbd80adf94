import { existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { sha256OfFile } from '../../tree/file-work.ts';
import { TREE_FILE_BYTES_MAX } from '../../tree/tree-layout.ts';
import type { ImplementationEntry, WeightsEntry } from '../config/config-types.ts';
import type { YamlPath } from '../config/placed-yaml.ts';
import type { Problems } from '../config/problems.ts';
import type { SubmissionConfig } from '../config/read-submission-config.ts';
import { readTextFile } from '../config/read-text-file.ts';
import { collectFiles } from './collect-files.ts';
import type { PlannedImplementation, PlannedWeights } from './plan-types.ts';

/** Reads what an implementation brings: code, scripts, weights, the calibration text. */
export async function readImplementation(
  config: SubmissionConfig,
  id: string,
  problems: Problems,
): Promise<PlannedImplementation> {
  const entry = config.entry.implementations[id] as ImplementationEntry;
  const path: YamlPath = ['implementations', id];
  const files = new Map<string, string>();
  for (const key of ['code', 'scripts'] as const) {
    const found = collectFiles(entry[key].map(config.resolve));
    for (const text of found.problems) problems.error([...path, key], text);
    if (found.skippedCount > 0) {
      problems.warn(
        [...path, key],
        `${found.skippedCount} entries are left out (names with a leading dot, node_modules, __pycache__)`,
      );
    }
    for (const [name, file] of found.files) files.set(name, file);
  }
  if (entry.scripts.length === 0) {
    problems.warn(
      path,
      'no "scripts": the rules want scripts that set up and run; run.sh is made from the runs, setting up is yours to tell',
    );
  }
  if (entry.run_commands === undefined) {
    problems.warn(
      path,
      'no "run_commands": no README of the tree tells how the SUT nodes are started',
    );
  }
  const weights: PlannedWeights[] = [];
  for (const [i, one] of entry.weights.entries()) {
    const place = [...path, 'weights', i];
    const read = await problems.attempt(place, () => readWeights(config, one, place, problems));
    if (read !== undefined) weights.push(read);
  }
  const { text, file } = entry.calibration;
  const calibration =
    text ??
    (await problems.attempt([...path, 'calibration'], () =>
      readTextFile(config.resolve(file as string)),
    )) ??
    '';
  return { id, entry, files, weights, calibration };
}

async function readWeights(
  config: SubmissionConfig,
  entry: WeightsEntry,
  path: YamlPath,
  problems: Problems,
): Promise<PlannedWeights> {
  const { file, source, sha256 } = entry;
  if (file === undefined) {
    return {
      name: source as string,
      file: undefined,
      source,
      sha256: (sha256 as string).toLowerCase(),
      bytes: entry.bytes,
    };
  }
  const path_ = config.resolve(file);
  if (!existsSync(path_)) {
    throw new MlperfError('ERR_CONFIG_FILE', `there is no file ${path_} with weights`);
  }
  if (!statSync(path_).isFile()) {
    throw new MlperfError('ERR_CONFIG_FILE', `${path_} is no file with weights`);
  }
  const hash = await sha256OfFile(path_);
  if (sha256 !== undefined && sha256.toLowerCase() !== hash) {
    problems.error(path, `${path_} has the SHA-256 ${hash}, not ${sha256}`);
  }
  const bytes = statSync(path_).size;
  const isSmall = bytes <= TREE_FILE_BYTES_MAX;
  if (!isSmall && source === undefined) {
    problems.error(
      path,
      `${path_} has ${bytes} bytes; the checkers refuse files above 50 MiB: add "source", where the weights can be had`,
    );
  }
  return { name: basename(path_), file: isSmall ? path_ : undefined, source, sha256: hash, bytes };
}
