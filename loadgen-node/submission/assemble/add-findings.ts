import { posix } from 'node:path';
import { at } from '../../../shared/base/at.ts';
import type { TestId } from '../../../shared/rules/rows/model-row.ts';
import { missingTestAdvice } from '../check/rules/compliance-rules.ts';
import type { FindingId } from '../check/rules/findings.ts';
import type { CheckFinding } from '../check/rules/rule.ts';
import { treeLayout } from '../tree/tree-layout.ts';
import type { Problems } from './config/read-submission-config.ts';
import type { SubmissionPlan } from './plan/plan-submission.ts';
import type { TreeFiles } from './tree-files.ts';

/**
 * Rules of the check that prevent a tree from being built, at any severity. Breaches of other rules
 * can be fixed, or discussed, later.
 */
const REFUSED: ReadonlySet<string> = new Set<FindingId>([
  ...(['log-empty', 'log-first-line', 'log-damaged', 'log-cut', 'error-in-log'] as const),
  ...(['record-missing', 'record-not-number', 'seed-wrong', 'seed-rounded'] as const),
  ...(['accuracy-seed-wrong', 'scenario-differs', 'mode-differs', 'sut-name'] as const),
  ...(['missing-file', 'missing-folder', 'empty-file', 'extra-run'] as const),
  ...(['test-missing', 'baseline-missing', 'model-unknown', 'division-unknown'] as const),
  ...(['scenario-missing', 'scenario-unknown', 'scenario-not-in-division'] as const),
  ...(['inferred-in-datacenter', 'field-missing', 'field-empty', 'field-blank'] as const),
  ...(['field-not-text', 'field-not-plain', 'field-not-number', 'status-unknown'] as const),
  ...(['system-type-unknown', 'not-datacenter'] as const),
]);

/** Rules on results that are too short or not good enough: a dry-run tree accepts these. */
const UNFINISHED: ReadonlySet<string> = new Set<FindingId>([
  ...(['result-invalid', 'duration-short', 'queries-few', 'offline-samples-few'] as const),
  ...(['performance-samples-few', 'latency-bound-loose', 'server-runs'] as const),
  ...(['accuracy-count-differs', 'test-not-passed', 'baseline-differs'] as const),
]);

/** Adds the check's findings on a built tree to the problems of its configuration. */
export function addFindings(
  findings: readonly CheckFinding[],
  { plan, files }: { readonly plan: SubmissionPlan; readonly files: TreeFiles },
  problems: Problems,
): void {
  const keys = keysOf(plan);
  const contents = new Map(files.entries());
  for (const finding of findings) {
    const { id, file, line, seen, rule } = finding;
    const key = keyOf(file, keys);
    const advice = id === 'test-missing' ? runAdvice(file, key, plan) : finding.advice;
    const content = contents.get(file);
    const source = content !== undefined && 'copyOf' in content ? content.copyOf : file;
    // One file gives the description of each division; the place names it.
    const isOfSystem = key[0] === 'systems';
    const where = isOfSystem ? '' : `${source}${line === undefined ? '' : `:${line}`}: `;
    const place = problems.at(...key);
    const weight = weightOf(finding, isOfSystem);
    if (weight !== undefined) place[weight](`${where}${seen} ${advice} (${id}: ${rule})`);
  }
}

/** Remedy for a missing test. @param key Below a result. */
function runAdvice(file: string, [, result]: Key, { results }: SubmissionPlan): string {
  const { performance } = at(results, Number(result)).runs;
  return missingTestAdvice(posix.basename(file) as TestId, performance.files.folder);
}

function weightOf({ id, file }: CheckFinding, isOfSystem: boolean) {
  const isOpen = file.startsWith('open/');
  // Open accepts models of the other suite; the plan refuses models of neither suite.
  if (isOpen && id === 'model-unknown') return undefined;
  // "Latency constraints are not applicable" to open: its bound is the submitter's own.
  if (isOpen && id === 'latency-bound-loose') return 'warn';
  if (UNFINISHED.has(id) || (id === 'todo-left' && isOfSystem)) return 'unfinished';
  return REFUSED.has(id) ? 'error' : undefined;
}

type Key = readonly (string | number)[];

/** Keys of the configuration, by the tree's files and folders made from them. */
function keysOf({ divisions, systems, results, submitter, round }: SubmissionPlan) {
  const layout = treeLayout(round);
  const keys = new Map<string, Key>();
  const add = (path: string, ...key: Key): void => {
    if (!keys.has(path)) keys.set(path, key);
  };
  for (const division of divisions) {
    for (const id of systems.keys()) {
      add(layout.system(division, submitter, id), 'systems', id, 'file');
    }
    for (const [i, { entry, model }] of results.entries()) {
      if (!entry.divisions.includes(division)) continue;
      const place = { ...entry, division, submitter };
      add(posix.dirname(layout.result(place)), 'results', i, 'model');
      add(posix.dirname(layout.performance(place)), 'results', i, 'performance');
      add(layout.accuracy(place), 'results', i, 'accuracy');
      for (const test of model?.tests ?? []) {
        add(layout.compliance(place, test), 'results', i, 'compliance', test);
      }
      add(posix.join(layout.measurements(place), 'user.conf'), 'results', i, 'user_conf');
      for (const folder of [layout.result(place), layout.measurements(place)]) {
        add(folder, 'results', i);
      }
    }
  }
  return keys;
}

/** The key of a file, or of its nearest parent folder with a key. */
function keyOf(file: string, keys: ReadonlyMap<string, Key>): Key {
  if (file === '.') return [];
  return keys.get(file) ?? keyOf(posix.dirname(file), keys);
}
