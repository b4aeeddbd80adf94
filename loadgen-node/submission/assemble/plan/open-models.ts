import { modelOfFolder, modelsOfRound } from '../../rules/models-of-rounds.ts';
import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import type { ResultEntry } from '../config/config-types.ts';
import type { Problems } from '../config/problems.ts';
import type { SubmissionConfig } from '../config/read-submission-config.ts';
import type { PlannedResult } from './plan-types.ts';

/**
 * Models of the open division that the round does not know by their names need one that it knows: the official
 * checkers refuse the result otherwise, or break off.
 */
export function checkOpenModels({ entry }: SubmissionConfig, problems: Problems): void {
  const { round } = entry;
  const references = new Map<string, string>();
  for (const [i, { model, reference_model, divisions }] of entry.results.entries()) {
    if (divisions.some((division) => division !== 'open')) {
      if (reference_model === undefined) continue;
      const text = 'only results of the open division alone may have a model of their own';
      problems.error(['results', i, 'reference_model'], text);
    } else if (reference_model === undefined) {
      if (modelOfFolder(round, model) !== undefined) continue;
      problems.error(
        ['results', i, 'model'],
        `${round} has no model "${model}": name the one that it stands for as "reference_model" (${namesOf(round)})`,
      );
    } else checkReference(entry, i, references, problems);
  }
}

function checkReference(
  { round, results }: SubmissionConfig['entry'],
  i: number,
  references: Map<string, string>,
  problems: Problems,
): void {
  const { model, reference_model: reference = '' } = results[i] as ResultEntry;
  const tell = (text: string): void => problems.error(['results', i, 'reference_model'], text);
  const name = modelOfFolder(round, reference)?.name;
  if (name === undefined) {
    tell(`${round} has no model "${reference}"; there is: ${namesOf(round)}`);
    return;
  }
  const own = modelOfFolder(round, model)?.name;
  if (own !== undefined && own !== name) {
    tell(`${model} is a model of ${round} itself and can stand for no other: rename it`);
  }
  const other = references.get(model);
  if (other !== undefined && other !== name) tell(`${model} stands for ${other} in another result`);
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
