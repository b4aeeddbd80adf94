import type { AccuracyTarget, ScenarioNeed, SubmissionModel } from './submission-model.ts';
import type { SubmissionRound } from './submission-rounds.ts';

/** A model as some rounds have it. */
export interface ModelOfRounds {
  readonly rounds: readonly SubmissionRound[];
  readonly model: SubmissionModel;
}

/** Both scenarios of the datacenter suite. */
export const SERVER_OFFLINE: ScenarioNeed = { required: ['Server', 'Offline'], oneOf: [] };

/** Offline alone. */
export const OFFLINE: ScenarioNeed = { required: ['Offline'], oneOf: [] };

/** Later rounds: Offline, and one of two scenarios with a latency bound. */
export const OFFLINE_AND_ONE: ScenarioNeed = {
  required: ['Offline'],
  oneOf: ['Interactive', 'Server'],
};

/** Edge suite, models with single samples. */
export const SINGLE_OFFLINE: ScenarioNeed = { required: ['SingleStream', 'Offline'], oneOf: [] };

/** Edge suite, vision. */
export const SINGLE_MULTI_OFFLINE: ScenarioNeed = {
  required: ['SingleStream', 'MultiStream', 'Offline'],
  oneOf: [],
};

/** The same number of samples everywhere. */
export function samples(
  count: number,
): Pick<SubmissionModel, 'performanceSamples' | 'dataSetSamples' | 'offlineSamples'> {
  return { performanceSamples: count, dataSetSamples: count, offlineSamples: count };
}

/** Targets as shares of what the reference model reaches. */
export function targetsAt(
  share: number,
  references: Readonly<Record<string, number>>,
): AccuracyTarget[] {
  return Object.entries(references).map(([metric, value]) => ({ metric, lower: value * share }));
}

/** A target around a reference: at least 90 % and at most 110 % of it. */
export function within10Percent(
  metric: string,
  reference: number,
  upperReference: number = reference,
): AccuracyTarget {
  return { metric, lower: reference * 0.9, upper: upperReference * 1.1 };
}

/** A pair of models, `NAME-99` and `NAME-99.9`, that differ in their accuracy. */
export function accuracyPair(
  base: Omit<SubmissionModel, 'name' | 'folder' | 'accuracy'> & { readonly name: string },
  accuracyOf: (share: number) => readonly AccuracyTarget[],
): readonly [SubmissionModel, SubmissionModel] {
  const of = (suffix: string, share: number): SubmissionModel => {
    const name = `${base.name}-${suffix}`;
    return { ...base, name, folder: name, accuracy: accuracyOf(share) };
  };
  return [of('99', 0.99), of('99.9', 0.999)];
}
