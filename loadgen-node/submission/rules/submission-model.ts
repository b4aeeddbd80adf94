import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { TestId } from '../../compliance/test-ids.ts';
import { modelsOfRound } from './models-of-rounds.ts';
import type { SubmissionRound, Suite } from './submission-rounds.ts';

/** Scenarios as folders name them: later rounds add Interactive, which is Server to LoadGen. */
export type SubmissionScenario = Scenario | 'Interactive';

/** One number that `accuracy.txt` has to show, in the unit in which the official script prints it. */
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
  readonly performanceSamples: number;
  readonly dataSetSamples: number;
  /** Fewest samples of an Offline query. */
  readonly offlineSamples: number;
  /** Largest latency bound of a Server run (a setting, not what was measured); absent: none is looked at. */
  readonly serverLatencyNs?: number;
  /** Bounds on p99 of the time to first token and per output token, by scenario. */
  readonly tokenLatencies?: Partial<
    Readonly<Record<SubmissionScenario, { readonly ttftNs: number; readonly tpotNs: number }>>
  >;
  readonly accuracy: readonly AccuracyTarget[];
  /** Compliance tests of the closed and network divisions. */
  readonly tests: readonly TestId[];
  /** True where samples must be issued in whole permutations (sample_concatenate_permutation). */
  readonly isEqualIssue?: boolean;
}

/** The model whose results lie in a folder of this name; undefined: the round has none. */
export function modelOfFolder(round: SubmissionRound, folder: string): SubmissionModel | undefined {
  return modelsOfRound(round).find((model) => model.folder === folder || model.name === folder);
}

/** The models of a round that a benchmark of longhaul can be (`resnet50`); more than one where targets differ. */
export function modelsOfBenchmark(
  round: SubmissionRound,
  benchmark: string,
): readonly SubmissionModel[] {
  return modelsOfRound(round).filter((model) => model.benchmark === benchmark);
}
