import type { SubmissionModel, SubmissionScenario } from '../../rules/submission-model.ts';
import type { SubmissionDivision, SubmissionRound } from '../../rules/submission-rounds.ts';
import type { TestId } from '../../rules/test-ids.ts';
import type { ImplementationEntry, NetworkEntry, ResultEntry } from '../config/config-types.ts';
import type { SubmittedRun } from './read-run.ts';

/** A compliance test of a result. */
export interface PlannedTest {
  readonly test: TestId;
  /** Files of the test's folder in the tree: path there → file here. */
  readonly files: ReadonlyMap<string, string>;
  /** What longhaul left of the run, to be kept as evidence: name → file. */
  readonly evidence: ReadonlyMap<string, string>;
}

/** Runs behind a result. */
export interface MeasuredRuns {
  readonly performance: SubmittedRun;
  readonly accuracy: SubmittedRun;
  /** Path of accuracy.txt, and its lines. */
  readonly accuracyFile: string;
  readonly accuracyLines: readonly string[];
  readonly tests: readonly PlannedTest[];
}

/** A result with its runs. One that is inferred has those of the measured one. */
export interface PlannedResult {
  readonly entry: ResultEntry;
  /** Undefined for a model of the open division that the round does not know. */
  readonly model: SubmissionModel | undefined;
  readonly scenario: SubmissionScenario;
  readonly runs: MeasuredRuns;
  /** Text of user.conf. */
  readonly userConf: string;
}

/** A system as its description says, before a division is put in. */
export interface PlannedSystem {
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Path of NAME.facts.json, where it lies beside the description. */
  readonly factsFile: string | undefined;
  readonly network: NetworkEntry | undefined;
  readonly dataPath: string | undefined;
  readonly dataPathEvidence: string | undefined;
}

/** Weights, with what a look at their file told. */
export interface PlannedWeights {
  readonly name: string;
  /** Path of the file where it goes into the tree. */
  readonly file: string | undefined;
  readonly source: string | undefined;
  /** Hexadecimal, lower case. */
  readonly sha256: string;
  readonly bytes: number | undefined;
}

/** An implementation with the files that it brings. */
export interface PlannedImplementation {
  readonly id: string;
  readonly entry: ImplementationEntry;
  /** Path below the implementation's code folder → file here. */
  readonly files: ReadonlyMap<string, string>;
  readonly weights: readonly PlannedWeights[];
  readonly calibration: string;
}

/** All that a tree is made from. Nothing of it is written yet. */
export interface SubmissionPlan {
  readonly submitter: string;
  readonly round: SubmissionRound;
  readonly divisions: readonly SubmissionDivision[];
  readonly systems: ReadonlyMap<string, PlannedSystem>;
  readonly implementations: ReadonlyMap<string, PlannedImplementation>;
  readonly results: readonly PlannedResult[];
  /** True for a tree that is marked as not to be handed in. */
  readonly isDryRun: boolean;
}
