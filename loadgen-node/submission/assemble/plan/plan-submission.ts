import { modelOfFolder } from '../../rules/models-of-rounds.ts';
import type { SubmissionDivision } from '../../rules/submission-rounds.ts';
import { Problems } from '../config/problems.ts';
import type { SubmissionConfig } from '../config/read-submission-config.ts';
import { nodesStateBatching, saidBatching } from './batching.ts';
import { warnOfNodes, warnOfWeights } from './compare-evidence.ts';
import { checkCompleteness, checkInferred } from './completeness.ts';
import { checkOpenModels } from './open-models.ts';
import type {
  PlannedImplementation,
  PlannedResult,
  PlannedSystem,
  SubmissionPlan,
} from './plan-types.ts';
import { readImplementation } from './read-implementation.ts';
import { readResults } from './read-results.ts';
import { readSystem } from './read-system.ts';
import { softwareBreach } from './software-methods.ts';

/** A plan, and what the submitter should know of it. */
export interface PlannedSubmission {
  readonly plan: SubmissionPlan;
  readonly warnings: readonly string[];
}

/**
 * Reads and checks all that a tree is made from; writes nothing.
 * @param isDryRun Runs that are too short or not valid are taken; the tree will be marked.
 * @throws MlperfError `ERR_CONFIG_INVALID` with everything that keeps the tree from being built, one per line.
 */
export async function planSubmission(
  config: SubmissionConfig,
  isDryRun: boolean,
): Promise<PlannedSubmission> {
  const { submitter, round, results: entries } = config.entry;
  const problems = new Problems(config.placeOf, isDryRun);
  checkReferences(config, problems);
  const systems = await readSystems(config, problems);
  checkInferred(entries, systems, problems);
  const implementations = await readImplementations(config, problems);
  checkSoftware(config, systems, problems);
  const results = await readResults(config, problems);
  checkOpenModels(config, problems);
  // A result that could not be read is missing for a reason that was told already.
  if (results.length === entries.length) {
    checkCompleteness(results, systems, problems);
    checkBatching(results, implementations, problems);
    for (const system of systems.values()) warnOfNodes(system, results, problems);
    warnOfWeights(results, implementations, problems);
  }
  problems.throwIfAny();
  const divisions = [...new Set(entries.flatMap((entry) => entry.divisions))];
  const plan = { submitter, round, divisions, systems, implementations, results, isDryRun };
  return { plan, warnings: problems.warnings };
}

/** Source: submission_rules, "Possible methods to provide Software". */
function checkSoftware(
  { entry }: SubmissionConfig,
  systems: ReadonlyMap<string, PlannedSystem>,
  problems: Problems,
): void {
  for (const { system, implementation } of entry.results) {
    const status = String(systems.get(system)?.fields['status'] ?? '');
    const software = entry.implementations[implementation]?.software ?? [];
    for (const [i, one] of software.entries()) {
      const breach = softwareBreach(one, status);
      if (breach !== undefined)
        problems.error(['implementations', implementation, 'software', i], breach);
    }
  }
}

/** The rules want it told how a SUT batches queries in Server. */
function checkBatching(
  results: readonly PlannedResult[],
  implementations: ReadonlyMap<string, PlannedImplementation>,
  problems: Problems,
): void {
  for (const [i, result] of results.entries()) {
    const { scenario, entry } = result;
    const implementation = implementations.get(entry.implementation);
    const isServer = scenario === 'Server' || scenario === 'Interactive';
    const isOpen = entry.divisions.every((division) => division === 'open');
    if (!isServer || isOpen || implementation === undefined) continue;
    if (saidBatching(result, implementation) !== '' || nodesStateBatching(result)) continue;
    problems.unfinished(
      ['results', i],
      '"batching" is missing: no node told how it batches queries, which the rules want told for Server',
    );
  }
}

function checkReferences({ entry }: SubmissionConfig, problems: Problems): void {
  const firstOf = new Map<string, number>();
  for (const [i, result] of entry.results.entries()) {
    for (const [key, map] of [
      ['system', entry.systems],
      ['implementation', entry.implementations],
    ] as const) {
      if (Object.hasOwn(map, result[key])) continue;
      const known = Object.keys(map).join(', ');
      problems.error(['results', i, key], `unknown ${key} "${result[key]}"; there is: ${known}`);
    }
    for (const division of result.divisions) {
      checkModel(entry.round, division, i, result.model, problems);
      const key = [division, result.system, result.model, result.scenario].join('/');
      const first = firstOf.get(key);
      if (first === undefined) firstOf.set(key, i);
      else
        problems.error(
          ['results', i],
          `${key} is there twice: result ${first + 1} is the other one`,
        );
    }
  }
}

function checkModel(
  round: SubmissionConfig['entry']['round'],
  division: SubmissionDivision,
  i: number,
  folder: string,
  problems: Problems,
): void {
  if (division === 'open') return;
  const model = modelOfFolder(round, folder);
  const path = ['results', i, 'model'];
  if (model === undefined) {
    problems.error(path, `${round} has no model "${folder}" in the ${division} division`);
  } else if (division === 'network' && model.scenarios.datacenter === undefined) {
    problems.error(
      path,
      `${folder} is not in the datacenter suite of ${round}, the only one of the network division`,
    );
  } else if (model.folder !== folder) {
    problems.error(path, `the folder of ${folder} is called "${model.folder}"`);
  }
}

async function readSystems(
  config: SubmissionConfig,
  problems: Problems,
): Promise<Map<string, PlannedSystem>> {
  const systems = new Map<string, PlannedSystem>();
  for (const id of Object.keys(config.entry.systems)) {
    const { results: all, systems: known } = config.entry;
    const own = all.filter((result) => result.system === id);
    // A result with a mistyped name may be of this one: what is wrong with it is told in the same round.
    const lost = all.filter((result) => !Object.hasOwn(known, result.system));
    const results = own.length > 0 ? own : lost;
    if (results.length === 0) {
      problems.warn(['systems', id], 'no result is of this system: it is left out');
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
    if (!isMistyped && results.every((result) => result.implementation !== id)) {
      problems.warn(['implementations', id], 'no result is of this implementation: it is left out');
      continue;
    }
    implementations.set(id, await readImplementation(config, id, problems));
  }
  return implementations;
}
