import type {
  AccuracyTarget,
  ScenarioNeed,
  SubmissionModel,
  TokenLatencies,
} from './submission-model.ts';
import type { SubmissionRound } from './submission-rounds.ts';

/**
 * What a row, or a later round, says of a model. `undefined` takes back what an earlier round says.
 */
type Said = {
  readonly [Key in keyof SubmissionModel]?: SubmissionModel[Key] | undefined;
} & {
  /** Performance samples, data set and Offline query; a number of their own goes before it. */
  readonly samples?: number;
  /** What the reference model reaches, by metric. */
  readonly references?: Readonly<Record<string, number>>;
  /** Share of the references that is asked for; absent: 0.99. */
  readonly share?: number;
  /** Targets that are no shares of a reference. */
  readonly bounds?: readonly AccuracyTarget[];
};

/**
 * A model in the first of its rounds, with what later rounds changed. Absent folder or benchmark:
 * the name.
 */
export type ModelRow = Said & {
  readonly name: string;
  readonly rounds: readonly [first: SubmissionRound, last: SubmissionRound];
  /** What is other from a round on. */
  readonly since?: Partial<Readonly<Record<SubmissionRound, Said>>>;
};

export const SERVER_OFFLINE: ScenarioNeed = { required: ['Server', 'Offline'], oneOf: [] };
export const OFFLINE: ScenarioNeed = { required: ['Offline'], oneOf: [] };
export const SINGLE: ScenarioNeed = { required: ['SingleStream'], oneOf: [] };
export const SINGLE_OFFLINE: ScenarioNeed = { required: ['SingleStream', 'Offline'], oneOf: [] };
export const SINGLE_MULTI_OFFLINE: ScenarioNeed = {
  required: ['SingleStream', 'MultiStream', 'Offline'],
  oneOf: [],
};
export const SINGLE_SERVER_OFFLINE: ScenarioNeed = {
  required: ['SingleStream', 'Server', 'Offline'],
  oneOf: [],
};
/** Later rounds: Offline, and one of two scenarios with a latency bound. */
export const OFFLINE_AND_ONE: ScenarioNeed = {
  required: ['Offline'],
  oneOf: ['Interactive', 'Server'],
};

/** `NAME-99` and `NAME-99.9`, which differ in the share of the references. */
export function pair(row: ModelRow): [ModelRow, ModelRow] {
  const { name } = row;
  return [
    { benchmark: name, ...row, name: `${name}-99` },
    { benchmark: name, ...row, name: `${name}-99.9`, share: 0.999 },
  ];
}

/** A target around a reference: at least 90 % and at most 110 % of it. */
export function within10Percent(
  metric: string,
  reference: number,
  upper = reference,
): AccuracyTarget {
  return { metric, lower: reference * 0.9, upper: upper * 1.1 };
}

export function tokens(ttftMs: number, tpotMs: number): TokenLatencies {
  return { ttftNs: ttftMs * 1e6, tpotNs: tpotMs * 1e6 };
}

/** Numbers of the pictures or videos that a result shows. */
export function shown(
  folder: 'images' | 'videos',
  ids: string,
): Pick<SubmissionModel, 'accuracyFiles'> {
  return { accuracyFiles: { folder, ids: ids.split(' ') } };
}
