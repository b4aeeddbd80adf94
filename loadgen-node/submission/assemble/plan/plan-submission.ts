import { nodeOf } from '../../../../shared/benchmarks/standin/standin-sets.ts';
import { modelOfFolder, modelsOfRound } from '../../rules/models-of-rounds.ts';
import type { SubmissionDivision, SubmissionRound } from '../../rules/submission-rounds.ts';
import {
  Problems,
  SOFTWARE_METHODS,
  type SoftwareEntry,
  type SubmissionConfig,
  type SubmissionEntry,
} from '../config/read-submission-config.ts';
import { type PlannedResult, readResults } from './read-results.ts';
import { isOpenOnly } from './read-run.ts';
import {
  type PlannedImplementation,
  type PlannedSystem,
  readImplementation,
  readSystem,
} from './read-system.ts';

/** All inputs of a tree, before it is written. */
export interface SubmissionPlan {
  readonly submitter: string;
  readonly round: SubmissionRound;
  readonly divisions: readonly SubmissionDivision[];
  /** Systems by id. */
  readonly systems: ReadonlyMap<string, PlannedSystem>;
  readonly results: readonly PlannedResult[];
  readonly isDryRun: boolean;
}

/**
 * Reads all inputs of a tree, without writing. Their content is checked in the built tree.
 * @param isDryRun True: accepts runs that are too short or not valid, and marks the tree as not
 *   submittable.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing everything that prevents the tree from being
 *   built, one per line.
 */
export async function planSubmission(
  config: SubmissionConfig,
  isDryRun: boolean,
): Promise<{ readonly plan: SubmissionPlan; readonly problems: Problems }> {
  const { submitter, round, results: entries } = config.entry;
  const problems = Problems.none(config.placeOf, isDryRun);
  checkReferences(config.entry, problems);
  const systems = await readSystems(config, problems);
  const implementations = await readImplementations(config, problems);
  const results = await readResults(config, { systems, implementations }, problems);
  checkOpenModels(config.entry, problems);
  problems.throwIfAny();
  // These do not prevent building a tree: they are reported together with the check's findings.
  checkSoftware(config.entry, systems, problems);
  for (const [i, result] of results.entries()) checkBatching(result, problems.at('results', i));
  for (const system of systems.values()) warnOfNodes(system, results, problems);
  for (const result of results) warnOfWeights(result, problems);
  const divisions = [...new Set(entries.flatMap((entry) => entry.divisions))];
  const plan = { submitter, round, divisions, systems, results, isDryRun };
  return { plan, problems };
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

/** Methods that make every component public. */
const OPEN_METHODS: readonly string[] = ['included', 'github', 'github-pr', 'binary'];

/**
 * Why a component is not allowed in a system of this status; undefined if it is. Source:
 * submission_rules, "Possible methods to provide Software".
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

/** Rule: a Server result states how the SUT batches queries. */
function checkBatching(result: PlannedResult, problems: Problems): void {
  if (!isServer(result) || isOpenOnly(result.entry.divisions)) return;
  if (saidBatching(result) !== '' || nodesStateBatching(result)) return;
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
      const key = [division, result.system, result.model, result.scenario].join('/');
      const first = firstOf.get(key);
      if (first === undefined) firstOf.set(key, i);
      else problems.error(`${key} is there twice: result ${first + 1} is the other one`);
    }
  }
}

async function readSystems(config: SubmissionConfig, problems: Problems) {
  const systems = new Map<string, PlannedSystem>();
  const { results: all, systems: known } = config.entry;
  for (const id of Object.keys(known)) {
    const own = all.filter((result) => result.system === id);
    // A result with a mistyped name may belong here: its errors are reported with the others.
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

async function readImplementations(config: SubmissionConfig, problems: Problems) {
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

/**
 * Checks that open-division models unknown to the round name one that it knows: otherwise the
 * official checkers refuse the result, or crash.
 */
function checkOpenModels({ round, results }: SubmissionEntry, all: Problems): void {
  const references = new Map<string, string>();
  for (const [i, { model, reference_model: reference, divisions }] of results.entries()) {
    const problems = all.at('results', i, 'reference_model');
    if (!isOpenOnly(divisions)) {
      const folder = modelOfFolder(round, model)?.folder ?? model;
      if (folder !== model) {
        all.at('results', i, 'model').error(`the folder of ${model} is called "${folder}"`);
      }
      if (reference === undefined) continue;
      problems.error('only results of the open division alone may have a model of their own');
    } else if (reference !== undefined) {
      checkReference(round, model, reference, references, problems);
    } else if (modelOfFolder(round, model) === undefined) {
      const text = `${round} has no model "${model}": name the one that it stands for as "reference_model" (${namesOf(round)})`;
      all.at('results', i, 'model').error(text);
    }
  }
}

function checkReference(
  round: SubmissionRound,
  model: string,
  reference: string,
  references: Map<string, string>,
  problems: Problems,
): void {
  const name = modelOfFolder(round, reference)?.name;
  if (name === undefined) {
    problems.error(`${round} has no model "${reference}"; there is: ${namesOf(round)}`);
    return;
  }
  if ((modelOfFolder(round, model)?.name ?? name) !== name) {
    problems.error(`${model} is a model of ${round} itself and can stand for no other: rename it`);
  }
  const other = references.get(model) ?? name;
  if (other !== name) problems.error(`${model} stands for ${other} in another result`);
  references.set(model, name);
}

function namesOf(round: SubmissionRound): string {
  return modelsOfRound(round)
    .map(({ name }) => name)
    .join(', ');
}

/**
 * Content of model_mapping.json: own name to the round's name, in the official tools' form
 * (`resnet`); undefined if no name needs it.
 */
export function modelMappingOf(results: readonly PlannedResult[]) {
  const pairs = results.flatMap(({ entry, model }) =>
    entry.reference_model === undefined || model === undefined || !entry.divisions.includes('open')
      ? []
      : [[entry.model, model.name] as const],
  );
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

/**
 * Warns if the diagram does not show the measured machines: their number and names should match the
 * runs.
 */
function warnOfNodes(
  { id, network, fields }: PlannedSystem,
  results: readonly PlannedResult[],
  all: Problems,
): void {
  if (network === undefined) return;
  const problems = all.at('systems', id, 'network', 'sut_nodes');
  const stated = [...network.sut_nodes].sort().join(', ');
  const number = String(fields['number_of_nodes']);
  if (/^\d+$/.test(number) && Number(number) !== network.sut_nodes.length) {
    problems.warn(`${stated}: the description says number_of_nodes ${number}`);
  }
  for (const { entry, runs } of results) {
    const nodes = entry.system === id ? (runs.performance.audit?.nodes ?? []) : [];
    const seen = nodes.map(({ description, address }) => nodeOf(description?.name ?? address));
    if (seen.length === 0 || seen.sort().join(', ') === stated) continue;
    problems.warn(`${stated}: ${runs.performance.files.folder} was a run of ${seen.join(', ')}`);
  }
}

/** Warns if the weights are neither those of the model that the SUT nodes ran, nor its source. */
function warnOfWeights({ runs, implementation }: PlannedResult, problems: Problems): void {
  const { id, weights } = implementation;
  for (const { description } of runs.performance.audit?.nodes ?? []) {
    if (!description?.model) continue;
    const { name, sha256 } = description.model;
    // Nodes of other makes may report no hash.
    if (!/^[0-9a-f]{64}$/.test(sha256)) continue;
    if (weights.some((one) => one.sha256 === sha256)) continue;
    problems
      .at('implementations', id, 'weights')
      .warn(
        `the SUT nodes ran ${name} with the SHA-256 ${sha256}, which no weights here have: say in "weight_transformations" how it was made from them`,
      );
  }
}

/** The submitter's own text on batching, which the rules require for Server; empty if missing. */
export function saidBatching({ entry, implementation }: PlannedResult): string {
  return (entry.batching ?? implementation?.entry.batching ?? '').trim();
}

/** True if a SUT node describes its batching. */
export function nodesStateBatching({ runs }: PlannedResult): boolean {
  const nodes = runs.performance.audit?.nodes ?? [];
  return nodes.some(({ description }) => description?.settings['batching'] !== undefined);
}

/** True for scenarios whose results must state how the SUT batches queries. */
export function isServer({ entry: { scenario } }: PlannedResult): boolean {
  return scenario === 'Server' || scenario === 'Interactive';
}
