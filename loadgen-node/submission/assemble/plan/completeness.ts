import { mayInfer } from '../../rules/inferred-results.ts';
import { scenarioNeed } from '../../rules/submission-model.ts';
import type { SubmissionDivision } from '../../rules/submission-rounds.ts';
import type { ResultEntry } from '../config/config-schema.ts';
import type { Problems } from '../config/problems.ts';
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
