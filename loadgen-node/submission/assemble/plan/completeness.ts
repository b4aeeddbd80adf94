import { nodeOf } from '../../../../shared/benchmarks/standin/standin-sets.ts';
import { modelOfFolder, modelsOfRound } from '../../rules/models-of-rounds.ts';
import { mayInfer } from '../../rules/result-metric.ts';
import { scenarioNeed } from '../../rules/submission-model.ts';
import type { SubmissionDivision, SubmissionRound } from '../../rules/submission-rounds.ts';
import type { ResultEntry, SubmissionEntry } from '../config/config-schema.ts';
import type { Problems } from '../config/read-submission-config.ts';
import { isOpenOnly } from './check-run.ts';
import type { PlannedImplementation } from './read-implementation.ts';
import type { PlannedResult } from './read-results.ts';
import { type PlannedSystem, plannedSuites } from './read-system.ts';

/**
 * Closed and network: each model of a system has every scenario that its suite asks for. Open takes any.
 * Source: inference_rules v4.1, tables of scenarios per benchmark; the official checkers.
 */
export function checkCompleteness(
  results: readonly PlannedResult[],
  systems: ReadonlyMap<string, PlannedSystem>,
  problems: Problems,
): void {
  for (const division of ['closed', 'network'] as const) {
    const groups = new Map<string, PlannedResult[]>();
    for (const result of results) {
      const { divisions, system, model } = result.entry;
      const key = `${system} ${model}`;
      if (divisions.includes(division)) groups.set(key, [...(groups.get(key) ?? []), result]);
    }
    for (const group of groups.values()) {
      checkGroup(group, division, systems, problems.at('results'));
    }
  }
}

/** Only edge systems may infer results. Source: inference_rules v4.1, "Benchmarks". */
export function checkInferred(
  results: readonly ResultEntry[],
  systems: ReadonlyMap<string, PlannedSystem>,
  problems: Problems,
): void {
  for (const [i, { inferred_from, system: id, scenario }] of results.entries()) {
    const system = systems.get(id);
    if (inferred_from === undefined || system === undefined) continue;
    if (mayInfer(plannedSuites(system), scenario)) continue;
    problems
      .at('results', i, 'inferred_from')
      .error(
        `only edge systems may infer ${scenario}; ${id} is of type "${system.fields['system_type']}"`,
      );
  }
}

/** @param group Results of one system and one model. */
function checkGroup(
  group: readonly PlannedResult[],
  division: SubmissionDivision,
  systems: ReadonlyMap<string, PlannedSystem>,
  problems: Problems,
): void {
  const [first] = group;
  const system = systems.get(first?.entry.system ?? '');
  if (first?.model === undefined || system === undefined) return;
  const there = group.map(({ entry }) => entry.scenario);
  const suites = plannedSuites(system);
  const { required, oneOf } = scenarioNeed(first.model, suites) ?? { required: [], oneOf: [] };
  const what = `${division}/${first.entry.system}/${first.entry.model}`;
  const lacks: string[] = required.filter((scenario) => !there.includes(scenario));
  if (oneOf.length > 0 && !oneOf.some((scenario) => there.includes(scenario))) {
    lacks.push(oneOf.join(' or '));
  }
  if (lacks.length > 0) {
    problems.error(
      `${what} lacks ${lacks.join(', ')}, which the ${suites.join(' and ')} suite asks for`,
    );
  }
  const allowed = [...required, ...oneOf];
  const foreign = there.filter((scenario) => !allowed.includes(scenario));
  if (foreign.length === 0) return;
  problems.error(
    `${what} has ${foreign.join(', ')}; ${suites.join(' and ')} has ${allowed.join(', ') || 'no such model'}`,
  );
}

/**
 * Models of the open division that the round does not know by their names need one that it knows: the official
 * checkers refuse the result otherwise, or break off.
 */
export function checkOpenModels({ round, results }: SubmissionEntry, all: Problems): void {
  const references = new Map<string, string>();
  for (const [i, { model, reference_model: reference, divisions }] of results.entries()) {
    const problems = all.at('results', i, 'reference_model');
    if (!isOpenOnly(divisions)) {
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
 * Content of model_mapping.json: own name → the round's, as the official tools have it (`resnet`); undefined where no
 * name needs one.
 */
export function modelMappingOf(
  results: readonly PlannedResult[],
): Readonly<Record<string, string>> | undefined {
  const pairs = results.flatMap(({ entry, model }) =>
    entry.reference_model === undefined || model === undefined || !entry.divisions.includes('open')
      ? []
      : [[entry.model, model.name] as const],
  );
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

/** The diagram is of the machines that were measured: their number and names should be those of the runs. */
export function warnOfNodes(
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

/** The weights are those of the model that the SUT nodes ran, or what that was made from. */
export function warnOfWeights(
  { runs }: PlannedResult,
  { id, weights }: PlannedImplementation,
  problems: Problems,
): void {
  for (const { description } of runs.performance.audit?.nodes ?? []) {
    if (!description?.model) continue;
    const { name, sha256 } = description.model;
    // Nodes of other makes may tell no hash.
    if (!/^[0-9a-f]{64}$/.test(sha256)) continue;
    if (weights.some((one) => one.sha256 === sha256)) continue;
    problems
      .at('implementations', id, 'weights')
      .warn(
        `the SUT nodes ran ${name} with the SHA-256 ${sha256}, which no weights here have: say in "weight_transformations" how it was made from them`,
      );
  }
}

/** The submitter's own words on how the SUT batches queries, which the rules want for Server; empty where there are none. */
export function saidBatching(
  { entry }: PlannedResult,
  implementation: PlannedImplementation,
): string {
  return (entry.batching ?? implementation.entry.batching ?? '').trim();
}

/** True where a SUT node stated in its description how it batches. */
export function nodesStateBatching({ runs }: PlannedResult): boolean {
  const nodes = runs.performance.audit?.nodes ?? [];
  return nodes.some(({ description }) => description?.settings['batching'] !== undefined);
}

/** True where the rules want it told how the SUT batches queries. */
export function isServer({ entry: { scenario } }: PlannedResult): boolean {
  return scenario === 'Server' || scenario === 'Interactive';
}
