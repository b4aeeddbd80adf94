import { LANGUAGE } from './language-models.ts';
import { OTHER_MODELS } from './other-models.ts';
import type { SubmissionModel } from './submission-model.ts';
import type { SubmissionRound } from './submission-rounds.ts';
import { VISION } from './vision-models.ts';

/**
 * Every model of a round, with what the round demands of its results.
 * Source: the tables of the official submission checkers (v4.1: the tag's own; later rounds: the newest, which
 * has them all; where an older one of the same round differs, the table says so) and inference_rules.
 */
export function modelsOfRound(round: SubmissionRound): readonly SubmissionModel[] {
  return [...VISION, ...LANGUAGE, ...OTHER_MODELS].flatMap(({ rounds, model }) =>
    rounds.includes(round) ? [model] : [],
  );
}
