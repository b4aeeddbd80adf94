import { modelOfFolder, modelsOfRound } from '../../rules/models-of-rounds.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import type { SubmissionEntry } from '../config/config-schema.ts';
import type { Problems } from '../config/problems.ts';
import { isOpenOnly } from './check-run.ts';
import type { PlannedResult } from './read-results.ts';

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
