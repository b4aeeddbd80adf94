import { modelOfFolder } from '../../rules/models-of-rounds.ts';
import type { SubmissionDivision } from '../../rules/submission-rounds.ts';
import {
  SOFTWARE_METHODS,
  type SoftwareEntry,
  type SubmissionEntry,
} from '../config/config-schema.ts';
import { Problems, type SubmissionConfig } from '../config/read-submission-config.ts';
import { isOpenOnly } from './check-run.ts';
import {
  checkCompleteness,
  checkInferred,
  checkOpenModels,
  isServer,
  nodesStateBatching,
  saidBatching,
  warnOfNodes,
  warnOfWeights,
} from './completeness.ts';
import { type PlannedImplementation, readImplementation } from './read-implementation.ts';
import { type PlannedResult, readResults } from './read-results.ts';
import { type PlannedSystem, readSystem } from './read-system.ts';

/** All that a tree is made from. Nothing of it is written yet. */
export type SubmissionPlan = Awaited<ReturnType<typeof planSubmission>>['plan'];

/**
 * Reads and checks all that a tree is made from; writes nothing.
 * @param isDryRun Runs that are too short or not valid are taken; the tree will be marked as not to be handed in.
 * @throws MlperfError `ERR_CONFIG_INVALID` with everything that keeps the tree from being built, one per line.
 */
export async function planSubmission(config: SubmissionConfig, isDryRun: boolean) {
  const { submitter, round, results: entries } = config.entry;
  const problems = Problems.none(config.placeOf, isDryRun);
  checkReferences(config.entry, problems);
  const systems = await readSystems(config, problems);
  checkInferred(entries, systems, problems);
  const implementations = await readImplementations(config, problems);
  checkSoftware(config.entry, systems, problems);
  const results = await readResults(config, problems);
  checkOpenModels(config.entry, problems);
  // A result that could not be read is missing for a reason that was told already.
  if (results.length === entries.length) {
    checkCompleteness(results, systems, problems);
    const pairs = results.map(
      (result) => [result, implementations.get(result.entry.implementation)] as const,
    );
    for (const [i, [result, implementation]] of pairs.entries()) {
      if (implementation) checkBatching(result, implementation, problems.at('results', i));
    }
    for (const system of systems.values()) warnOfNodes(system, results, problems);
    for (const [result, implementation] of pairs) {
      if (implementation) warnOfWeights(result, implementation, problems);
    }
  }
  problems.throwIfAny();
  const divisions = [...new Set(entries.flatMap((entry) => entry.divisions))];
  const plan = { submitter, round, divisions, systems, implementations, results, isDryRun };
  return { plan, warnings: problems.warnings };
}

function checkSoftware(
  { results, implementations }: SubmissionEntry,
  systems: ReadonlyMap<string, PlannedSystem>,
  problems: Problems,
): void {
  for (const { system, implementation } of results) {
    const status = String(systems.get(system)?.fields['status'] ?? '');
    const software = implementations[implementation]?.software ?? [];
    for (const [i, one] of software.entries()) {
      const breach = softwareBreach(one, status);
      if (breach === undefined) continue;
      problems.at('implementations', implementation, 'software', i).error(breach);
    }
  }
}

/** Methods by which every component is open to anybody. */
const OPEN_METHODS: readonly string[] = ['included', 'github', 'github-pr', 'binary'];

/**
 * Why a component cannot be in a system of this status; undefined: it can.
 * Source: submission_rules, "Possible methods to provide Software".
 */
export function softwareBreach(entry: SoftwareEntry, status: string): string | undefined {
  const { name, method, release, version, identifier } = entry;
  const { title, by } = SOFTWARE_METHODS[method];
  if (version === undefined && identifier === undefined && method !== 'included') {
    return `${name} has neither "version" nor "identifier": ${title} is known by ${by}`;
  }
  if (status.toLowerCase() !== 'available') return undefined;
  const what = !OPEN_METHODS.includes(method)
    ? title
    : method === 'binary' && release === 'other'
      ? 'a binary that is neither a beta nor a production release'
      : undefined;
  if (what === undefined) return undefined;
  return `${name} is ${what}, which no system of the category available may use`;
}

/** The rules want it told how a SUT batches queries in Server. */
function checkBatching(
  result: PlannedResult,
  implementation: PlannedImplementation,
  problems: Problems,
): void {
  if (!isServer(result) || isOpenOnly(result.entry.divisions)) return;
  if (saidBatching(result, implementation) !== '' || nodesStateBatching(result)) return;
  problems.unfinished(
    '"batching" is missing: no node told how it batches queries, which the rules want told for Server',
  );
}

function checkReferences(entry: SubmissionEntry, all: Problems): void {
  const firstOf = new Map<string, number>();
  for (const [i, result] of entry.results.entries()) {
    const problems = all.at('results', i);
    for (const [key, map] of [
      ['system', entry.systems],
      ['implementation', entry.implementations],
    ] as const) {
      if (Object.hasOwn(map, result[key])) continue;
      const known = Object.keys(map).join(', ');
      problems.at(key).error(`unknown ${key} "${result[key]}"; there is: ${known}`);
    }
    for (const division of result.divisions) {
      checkModel(entry.round, division, result.model, problems.at('model'));
      const key = [division, result.system, result.model, result.scenario].join('/');
      const first = firstOf.get(key);
      if (first === undefined) firstOf.set(key, i);
      else problems.error(`${key} is there twice: result ${first + 1} is the other one`);
    }
  }
}

function checkModel(
  round: SubmissionEntry['round'],
  division: SubmissionDivision,
  folder: string,
  problems: Problems,
): void {
  if (division === 'open') return;
  const model = modelOfFolder(round, folder);
  if (model === undefined) {
    problems.error(`${round} has no model "${folder}" in the ${division} division`);
  } else if (division === 'network' && model.scenarios.datacenter === undefined) {
    problems.error(
      `${folder} is not in the datacenter suite of ${round}, the only one of the network division`,
    );
  } else if (model.folder !== folder) {
    problems.error(`the folder of ${folder} is called "${model.folder}"`);
  }
}

async function readSystems(
  config: SubmissionConfig,
  problems: Problems,
): Promise<Map<string, PlannedSystem>> {
  const systems = new Map<string, PlannedSystem>();
  const { results: all, systems: known } = config.entry;
  for (const id of Object.keys(known)) {
    const own = all.filter((result) => result.system === id);
    // A result with a mistyped name may be of this one: what is wrong with it is told in the same round.
    const lost = all.filter((result) => !Object.hasOwn(known, result.system));
    const results = own.length > 0 ? own : lost;
    if (results.length === 0) {
      problems.at('systems', id).warn('no result is of this system: it is left out');
      continue;
    }
    const divisions = [...new Set(results.flatMap((result) => result.divisions))];
    const system = await readSystem(config, id, divisions, problems);
    if (system !== undefined) systems.set(id, system);
  }
  return systems;
}

async function readImplementations(
  config: SubmissionConfig,
  problems: Problems,
): Promise<Map<string, PlannedImplementation>> {
  const implementations = new Map<string, PlannedImplementation>();
  const { results, implementations: known } = config.entry;
  const isMistyped = results.some((result) => !Object.hasOwn(known, result.implementation));
  for (const id of Object.keys(known)) {
    if (isMistyped || results.some((result) => result.implementation === id)) {
      implementations.set(id, await readImplementation(config, id, problems));
      continue;
    }
    const text = 'no result is of this implementation: it is left out';
    problems.at('implementations', id).warn(text);
  }
  return implementations;
}
