import type { Suite } from './submission-rounds.ts';
import type { TestId } from './test-ids.ts';

/** Scenarios as folders name them, in the order in which they are listed to people. */
export const SUBMISSION_SCENARIOS = [
  'SingleStream',
  'MultiStream',
  'Server',
  'Offline',
  // Of later rounds; Server to LoadGen.
  'Interactive',
] as const;

/** One of {@link SUBMISSION_SCENARIOS}. */
export type SubmissionScenario = (typeof SUBMISSION_SCENARIOS)[number];

/**
 * One number that `accuracy.txt` has to show, in the unit in which the official script prints it.
 */
export interface AccuracyTarget {
  /** Name as the official tools have it: `acc`, `F1`, `ROUGE1`, ... */
  readonly metric: string;
  /** The least; undefined: none. */
  readonly lower?: number;
  /** The most; undefined: none. */
  readonly upper?: number;
}

/** Scenarios that a suite asks for. */
export interface ScenarioNeed {
  readonly required: readonly SubmissionScenario[];
  /** Of these at least one has to be there as well; empty: none. */
  readonly oneOf: readonly SubmissionScenario[];
}

/**
 * Bounds on p99 of the time to first token and per output token, in ns; what is measured must be
 * below.
 */
export interface TokenLatencies {
  readonly ttftNs: number;
  readonly tpotNs: number;
}

/** What a round demands of a result of one model. Counts in samples, times in ns. */
export interface SubmissionModel {
  /** Name in the official tools: `resnet`, `bert-99`, ... */
  readonly name: string;
  /** Folder in the tree: `resnet50`; for most models the name. */
  readonly folder: string;
  /** Name in mlperf.conf, which is the benchmark's key: `resnet50`, `bert`, ... */
  readonly benchmark: string;
  /** Absent suite: the model is not in it. */
  readonly scenarios: Partial<Readonly<Record<Suite, ScenarioNeed>>>;
  /**
   * What a system of both suites needs, where the official tables have more than the two suites
   * together.
   */
  readonly bothSuites?: ScenarioNeed;
  readonly performanceSamples: number;
  readonly dataSetSamples: number;
  /** Samples of an accuracy run, where they are not the whole data set. */
  readonly accuracySamples?: number;
  /** Fewest samples of an Offline query. */
  readonly offlineSamples: number;
  /**
   * Largest latency bound of a Server run (a setting, not what was measured); absent: none is
   * looked at.
   */
  readonly serverLatencyNs?: number;
  readonly tokenLatencies?: Partial<Readonly<Record<SubmissionScenario, TokenLatencies>>>;
  readonly accuracy: readonly AccuracyTarget[];
  /** What is other in one scenario. */
  readonly inScenario?: Partial<
    Readonly<
      Record<
        SubmissionScenario,
        Partial<Pick<SubmissionModel, 'accuracy' | 'accuracySamples' | 'serverLatencyNs'>>
      >
    >
  >;
  /**
   * Result in tokens: `counted` by LoadGen, or `inferred` from a mean length; absent: in samples.
   */
  readonly tokenMetric?: 'counted' | 'inferred';
  /**
   * Largest difference of the two accuracies of TEST01's fallback in percent, where it is not the
   * usual one.
   */
  readonly baselinePercents?: Readonly<Record<string, number>>;
  /** Files that must lie in a folder of `accuracy/`, by their numbers. */
  readonly accuracyFiles?: { readonly folder: string; readonly ids: readonly string[] };
  /** Compliance tests of the closed and network divisions. */
  readonly tests: readonly TestId[];
  /** True where samples must be issued in whole permutations (sample_concatenate_permutation). */
  readonly isEqualIssue?: boolean;
}

/** The model with what is other in a scenario. */
export function modelInScenario(
  model: SubmissionModel,
  scenario: SubmissionScenario,
): SubmissionModel {
  return { ...model, ...model.inScenario?.[scenario] };
}

/**
 * What a system of these suites has to show of a model; undefined: the model is in none of them.
 */
export function scenarioNeed(
  model: SubmissionModel,
  suites: readonly Suite[],
): ScenarioNeed | undefined {
  if (suites.length > 1 && model.bothSuites !== undefined) return model.bothSuites;
  const needs = suites.flatMap((suite) => model.scenarios[suite] ?? []);
  if (needs.length === 0) return undefined;
  return {
    required: [...new Set(needs.flatMap(({ required }) => required))],
    oneOf: [...new Set(needs.flatMap(({ oneOf }) => oneOf))],
  };
}
