import { mayInfer } from '../../rules/inferred-results.ts';
import {
  type ScenarioNeed,
  type SubmissionScenario,
  scenarioNeed,
} from '../../rules/submission-model.ts';
import type { SubmissionDivision } from '../../rules/submission-rounds.ts';
import type { ResultEntry } from '../config/config-types.ts';
import type { Problems } from '../config/problems.ts';
import type { PlannedResult, PlannedSystem } from './plan-types.ts';
import { plannedSuites } from './read-system.ts';

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
    for (const group of groupsOf(results, division)) checkGroup(group, division, systems, problems);
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
    problems.error(
      ['results', i, 'inferred_from'],
      `only edge systems may infer ${scenario}; ${id} is of type "${system.fields['system_type']}"`,
    );
  }
}

function groupsOf(
  results: readonly PlannedResult[],
  division: SubmissionDivision,
): Iterable<PlannedResult[]> {
  const groups = new Map<string, PlannedResult[]>();
  for (const result of results) {
    if (!result.entry.divisions.includes(division)) continue;
    const key = `${result.entry.system} ${result.entry.model}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return groups.values();
}

function checkGroup(
  group: readonly PlannedResult[],
  division: SubmissionDivision,
  systems: ReadonlyMap<string, PlannedSystem>,
  problems: Problems,
): void {
  const [first] = group;
  const system = systems.get(first?.entry.system ?? '');
  if (first === undefined || first.model === undefined || system === undefined) return;
  const there = group.map(({ scenario }) => scenario);
  const { model, entry } = first;
  const suites = plannedSuites(system).join(' and ');
  const need = scenarioNeed(model, plannedSuites(system));
  const lacks = need === undefined ? [] : lacking(need, there);
  if (lacks.length > 0) {
    problems.error(
      ['results'],
      `${division}/${entry.system}/${entry.model} lacks ${lacks.join(', ')}, which the ${suites} suite asks for`,
    );
  }
  const allowed = [...(need?.required ?? []), ...(need?.oneOf ?? [])];
  const foreign = there.filter((scenario) => !allowed.includes(scenario));
  if (foreign.length === 0) return;
  problems.error(
    ['results'],
    `${division}/${entry.system}/${entry.model} has ${foreign.join(', ')}; ${suites} has ${allowed.join(', ') || 'no such model'}`,
  );
}

function lacking(need: ScenarioNeed, there: readonly SubmissionScenario[]): string[] {
  const missing: string[] = need.required.filter((scenario) => !there.includes(scenario));
  const hasOne = need.oneOf.length === 0 || need.oneOf.some((scenario) => there.includes(scenario));
  return hasOne ? missing : [...missing, need.oneOf.join(' or ')];
}
