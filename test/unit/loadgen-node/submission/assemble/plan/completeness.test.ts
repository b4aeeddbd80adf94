/** Scenarios of a system of both suites are those of the tables, which may have more than the two suites together. */
import { expect, it } from 'vitest';
import { Problems } from '../../../../../../loadgen-node/submission/assemble/config/read-submission-config.ts';
import {
  checkCompleteness,
  checkInferred,
} from '../../../../../../loadgen-node/submission/assemble/plan/plan-submission.ts';
import type { PlannedResult } from '../../../../../../loadgen-node/submission/assemble/plan/read-results.ts';
import type { PlannedSystem } from '../../../../../../loadgen-node/submission/assemble/plan/read-system.ts';
import { modelOfFolder } from '../../../../../../loadgen-node/submission/rules/models-of-rounds.ts';
import type { SubmissionScenario } from '../../../../../../shared/rules/rows/model-row.ts';

const EDGE: readonly SubmissionScenario[] = ['SingleStream', 'MultiStream', 'Offline'];

function systems(type: string): ReadonlyMap<string, PlannedSystem> {
  const system = { id: 'a', fields: { system_type: type } } as unknown as PlannedSystem;
  return new Map([['a', system]]);
}

/** Problems of resnet50 of v5.1 on a system of this type. */
function problemsOf(type: string, scenarios: readonly SubmissionScenario[]): string {
  const problems = Problems.none(() => 'here', false);
  const model = modelOfFolder('v5.1', 'resnet50');
  const results = scenarios.map((scenario) => {
    const entry = { divisions: ['closed'], system: 'a', model: 'resnet50', scenario };
    return { entry, model, system: systems(type).get('a') } as unknown as PlannedResult;
  });
  checkCompleteness(results, problems);
  return messageOf(problems);
}

function messageOf(problems: Problems): string {
  try {
    problems.throwIfAny();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

it.each<[string, readonly SubmissionScenario[], string]>([
  ['edge', EDGE, ''],
  ['edge', ['SingleStream', 'Offline'], 'lacks MultiStream, which the edge suite asks for'],
  ['edge', [...EDGE, 'Server'], 'has Server; edge has SingleStream, MultiStream, Offline'],
  ['datacenter,edge', [...EDGE, 'Server'], ''],
  ['datacenter,edge', EDGE, 'lacks Server, which the datacenter and edge suite asks for'],
])('on a system of type %s with %s', (type, scenarios, expected) => {
  const text = problemsOf(type, scenarios);
  expect(text.replace('here: closed/a/resnet50 ', '')).toBe(expected);
});

it.each<[string, SubmissionScenario, boolean]>([
  ['edge', 'Offline', true],
  ['edge', 'MultiStream', true],
  ['datacenter,edge', 'MultiStream', true],
  ['datacenter,edge', 'Offline', false],
  ['datacenter', 'Offline', false],
])('a system of type %s may infer %s: %s', (type, scenario, isAllowed) => {
  const problems = Problems.none(() => 'here', false);
  const result = { inferred_from: 'SingleStream', system: 'a', scenario };
  checkInferred(
    [result] as unknown as Parameters<typeof checkInferred>[0],
    systems(type),
    problems,
  );
  expect(messageOf(problems) === '').toBe(isAllowed);
});
