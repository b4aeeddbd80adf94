import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { readJsonFile, statIfThere } from '../../../../shared/base/files/read-file.ts';
import type { SubmissionDivision, SubmissionRound } from '../../rules/submission-rounds.ts';
import { sha256OfFile } from '../../tree/file-work.ts';
import { isTodo, NETWORK_FIELDS, systemKeysOf } from '../../tree/system-fields.ts';
import { TREE_FILE_BYTES_MAX } from '../../tree/tree-layout.ts';
import {
  type ImplementationEntry,
  type Problems,
  readTextFile,
  type SubmissionConfig,
  type SystemEntry,
  type WeightsEntry,
} from '../config/read-submission-config.ts';
import { checkNetwork } from './network-diagram.ts';
import { isOpenOnly } from './read-run.ts';

const descriptionSchema = z.record(
  z.string(),
  z.unknown(),
  'must be an object with the fields of a system description',
);

/** Reads a system's description and checks it against its divisions. */
export async function readSystem(
  { entry: { systems, submitter, round }, resolve }: SubmissionConfig,
  id: string,
  divisions: readonly SubmissionDivision[],
  all: Problems,
): Promise<PlannedSystem | undefined> {
  const entry = systems[id] as SystemEntry;
  const place = all.at('systems', id);
  const problems = place.at('file');
  const path = resolve(entry.file);
  const fields = await problems.attempt(() => readJsonFile(path, descriptionSchema));
  if (fields === undefined) return undefined;
  const facts = path.replace(/\.json$/, '.facts.json');
  const factsFile = existsSync(facts) && facts !== path ? facts : undefined;
  const system = { ...entry, id, fields, factsFile };
  const said = textOf(fields['submitter']);
  if (said !== '' && !isTodo(said) && said.toLowerCase() !== submitter.toLowerCase()) {
    problems.error(`submitter is "${said}"; the configuration says "${submitter}"`);
  }
  const wanted = [...systemKeysOf(round), ...(divisions.includes('network') ? NETWORK_FIELDS : [])];
  for (const { key } of wanted) {
    const value = fields[key];
    // Values that the build fills in may have any type.
    if (value === undefined || typeof value === 'string' || key === 'is_network') continue;
    problems.error(`${key} is ${JSON.stringify(value)}: it has to be a text in quotes`);
  }
  checkStatements(system, divisions, round, place);
  return system;
}

/** A system: its configuration entry and its description. */
export type PlannedSystem = SystemEntry & {
  readonly id: string;
  /** Fields of the description, before the division is set. */
  readonly fields: Record<string, unknown>;
  /** Path of NAME.facts.json, if it exists beside the description. */
  readonly factsFile: string | undefined;
};

const NETWORK_KEYS = new Set(NETWORK_FIELDS.map(({ key }) => key));

/**
 * Fields of `systems/<system>.json` in a division. `is_network` is the text "True" in network (the
 * JSON value crashes official checkers); closed omits all network keys, since a checker requires
 * all of them if it finds one; open keeps those in the description. Round v0.5 has only its own
 * keys.
 */
export function systemFields(
  { fields }: Pick<PlannedSystem, 'fields'>,
  division: SubmissionDivision,
  submitter: string,
  round: SubmissionRound,
): Record<string, unknown> {
  const { is_network, ...rest } = fields;
  const own = { ...rest, division, submitter };
  if (round === 'v0.5') {
    return Object.fromEntries(systemKeysOf(round).map(({ key }) => [key, own[key as 'division']]));
  }
  const isNetwork = division === 'open' && String(is_network).toLowerCase() === 'true';
  if (isNetwork || division === 'network') return { ...own, is_network: 'True' };
  return Object.fromEntries(Object.entries(own).filter(([key]) => !NETWORK_KEYS.has(key)));
}

/**
 * Source: inference_rules v4.1, "LoadGen Operation" (system architecture) and "Network division".
 */
function checkStatements(
  { network, data_path }: PlannedSystem,
  divisions: readonly SubmissionDivision[],
  round: SubmissionRound,
  problems: Problems,
): void {
  if (network !== undefined) checkNetwork(network, problems.at('network'));
  else if (divisions.includes('network')) {
    problems.error(
      '"network" is missing: the network division wants a diagram of all that lies between the LoadGen node and the SUT nodes',
    );
  }
  if (data_path === undefined && !isOpenOnly(divisions) && round !== 'v0.5') {
    problems.unfinished(
      '"data_path" is missing: the rules want the way of the data from the NIC to the accelerator told',
    );
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** Reads an implementation's files: code, scripts, weights, calibration text. */
export async function readImplementation(
  { entry: { implementations }, resolve }: SubmissionConfig,
  id: string,
  all: Problems,
): Promise<PlannedImplementation> {
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
  const weights: PlannedWeights[] = [];
  for (const [i, one] of entry.weights.entries()) {
    const place = problems.at('weights', i);
    const read = await place.attempt(() => readWeights(one, resolve, place));
    if (read !== undefined) weights.push(read);
  }
  const { text, file = '' } = entry.calibration;
  const read = (): string => text ?? readTextFile(resolve(file));
  const calibration = (await problems.at('calibration').attempt(read)) ?? '';
  return {
    id,
    entry,
    files,
    weights,
    calibration,
  };
}

/** An implementation with its files. */
export interface PlannedImplementation {
  readonly id: string;
  readonly entry: ImplementationEntry;
  /** Path below the implementation's code folder, and source file. */
  readonly files: ReadonlyMap<string, string>;
  readonly weights: readonly PlannedWeights[];
  /** Calibration text. */
  readonly calibration: string;
}

/** Weights, as stated or as found in their file. */
export interface PlannedWeights {
  readonly name: string;
  /** Path of the file if it goes into the tree. */
  readonly file: string | undefined;
  /** Where to get them. */
  readonly source: string | undefined;
  /** In lower case. */
  readonly sha256: string;
  readonly bytes: number | undefined;
}

async function readWeights(
  { file, source, sha256, bytes: statedBytes }: WeightsEntry,
  resolve: (path: string) => string,
  problems: Problems,
): Promise<PlannedWeights> {
  const stated = sha256?.toLowerCase() ?? '';
  if (file === undefined) {
    const name = source ?? '';
    return { name, file: undefined, source, sha256: stated, bytes: statedBytes };
  }
  const path = resolve(file);
  const stat = statIfThere(path);
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

/** Folders of generated content that reviewers do not read. */
const SKIPPED = new Set(['node_modules', '__pycache__']);

/**
 * Finds files for a tree: a file by its name, a folder with its whole content. Names with a leading
 * dot are skipped, names with blanks refused, as the official checkers require.
 * @returns Path in the tree (forward slashes) and source file, links followed; problems as whole
 *   sentences.
 */
export function collectFiles(paths: readonly string[]) {
  const files = new Map<string, string>();
  const problems: string[] = [];
  let skippedCount = 0;
  const addFile = (path: string, name: string): void => {
    if (/\s/.test(name)) problems.push(`${path} has a blank in its name: the checkers refuse it`);
    const stat = statSync(path);
    if (!stat.isFile()) {
      problems.push(`${path} is neither a file nor a folder`);
      return;
    }
    const { size } = stat;
    if (size > TREE_FILE_BYTES_MAX) {
      problems.push(`${path} has ${size} bytes: the checkers refuse files above 50 MiB`);
    }
    if (files.has(name)) problems.push(`${path} and ${files.get(name)} would both be ${name}`);
    files.set(name, path);
  };
  /** @param parents Real paths of the parent folders: a link to one of them would never end. */
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
      else if (!existsSync(inner)) problems.push(`${inner} is a broken link`);
      else add(inner, `${name}/${entry}`, [...parents, real]);
    }
  };
  for (const path of paths) {
    if (existsSync(path)) add(path, basename(path), []);
    else problems.push(`${path} is not there`);
  }
  return { files, problems, skippedCount };
}
