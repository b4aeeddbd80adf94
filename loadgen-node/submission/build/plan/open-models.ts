import { modelOfFolder } from '../../rules/submission-model.ts';
import type { SubmissionConfig } from '../config/read-submission-config.ts';
import type { Problems } from '../problems.ts';
import type { PlannedResult } from './plan-types.ts';

/** Models of the open division that the round does not know by their names need one that it knows. */
export function checkOpenModels(
  { entry }: SubmissionConfig,
  results: readonly PlannedResult[],
  problems: Problems,
): void {
  const references = new Map<string, string>();
  for (const [i, { model, reference_model, divisions }] of entry.results.entries()) {
    if (reference_model === undefined) continue;
    const path = ['results', i, 'reference_model'];
    if (divisions.some((division) => division !== 'open')) {
      problems.error(path, 'only results of the open division alone may have a model of their own');
    }
    const other = references.get(model);
    if (other !== undefined && other !== reference_model) {
      problems.error(path, `${model} stands for ${other} in another result`);
    }
    references.set(model, reference_model);
  }
  for (const [i, { model, reference_model }] of entry.results.entries()) {
    if (reference_model !== undefined || modelOfFolder(entry.round, model) !== undefined) continue;
    if (results.every((result) => result.entry !== entry.results[i])) continue;
    problems.warn(
      ['results', i, 'model'],
      `${entry.round} has no model "${model}": name the one that it stands for as "reference_model"`,
    );
  }
}

/** Content of model_mapping.json: own name → the round's; undefined where no name needs one. */
export function modelMappingOf(
  results: readonly PlannedResult[],
): Readonly<Record<string, string>> | undefined {
  const pairs = results.flatMap(({ entry }) =>
    entry.reference_model === undefined || !entry.divisions.includes('open')
      ? []
      : [[entry.model, entry.reference_model] as const],
  );
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}
