import { basename, posix, resolve } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { SubmissionScenario } from '../../../shared/rules/rows/model-row.ts';
import {
  SUBMISSION_DIVISIONS,
  type SubmissionDivision,
  type SubmissionRound,
} from '../rules/submission-rounds.ts';

/** File in the root of a dry-run tree. */
export const DRY_RUN_FILE = 'NOT_SUBMITTABLE.md';

/** Text in that file, in LONGHAUL.md and in every result's README of such a tree. */
export const DRY_RUN_WORDS = 'Not to be handed in';

/**
 * File in the root of every tree built by longhaul: the root may only contain .md and .pdf files.
 */
export const MARK_FILE = 'LONGHAUL.md';
/** First line of {@link MARK_FILE}. */
export const MARK_LINE = '<!-- built by longhaul submission build -->';

/**
 * Name of the self-check's text in a submitter's results. Source: submission_rules, "Directory
 * structure".
 */
export const CHECKER_LOG = 'compliance_checker_log.txt';

/** Largest file that the official checkers accept. Source: submission_checker.py, "file size". */
export const TREE_FILE_BYTES_MAX: number = 50 * 2 ** 20;

/** Folder names of one result. */
export interface ResultPlace {
  readonly division: SubmissionDivision;
  readonly submitter: string;
  readonly system: string;
  /** Folder of the model: `resnet50`. */
  readonly model: string;
  readonly scenario: SubmissionScenario;
}

/**
 * Paths in a submission tree, relative to its root, with forward slashes. Two layouts: with
 * `measurements/` and `compliance/` (rounds up to v5.1; submission_rules, "Directory structure"),
 * and flat from v6.0 on, with everything of a result in its folder under `results/`.
 */
export function treeLayout(round: SubmissionRound): TreeLayout {
  const isFlat = round === 'v6.0' || round === 'v6.1';
  const of = (kind: string, { division, submitter, system, model, scenario }: ResultPlace) =>
    posix.join(division, submitter, isFlat ? 'results' : kind, system, model, scenario);
  const result = (place: ResultPlace) => of('results', place);
  /** Folder with user.conf, README.md and the measurements file. */
  const measurements = (place: ResultPlace) => of('measurements', place);
  /** Folder of texts for reviewers, and of files that no official tool requires. */
  const documentation = (division: SubmissionDivision, submitter: string) =>
    posix.join(division, submitter, 'documentation');
  return {
    round,
    isFlat,
    result,
    measurements,
    documentation,
    system: (division, submitter, system) =>
      posix.join(division, submitter, 'systems', `${system}.json`),
    code: (division, submitter) => posix.join(division, submitter, isFlat ? 'src' : 'code'),
    performance: (place, run = 1) => posix.join(result(place), 'performance', `run_${run}`),
    accuracy: (place) => posix.join(result(place), 'accuracy'),
    measurementsFile: (place, implementation) => {
      const name = isFlat ? 'measurements' : `${place.system}_${implementation}_${place.scenario}`;
      return posix.join(measurements(place), `${name}.json`);
    },
    compliance: (place, test) => posix.join(of('compliance', place), test),
    evidence: ({ division, submitter, system, model, scenario }, run) =>
      posix.join(documentation(division, submitter), 'evidence', system, model, scenario, run),
  };
}

/**
 * Name of a performance run's evidence, by number from 0: the first one's is the same as in rounds
 * with one run.
 */
export function evidenceOfRun(i: number): string {
  return i === 0 ? 'performance' : `performance_${i + 1}`;
}

/** Paths in a submission tree, relative to its root; folders are those of a result. */
export interface TreeLayout {
  readonly round: SubmissionRound;
  readonly isFlat: boolean;
  readonly result: (place: ResultPlace) => string;
  readonly measurements: (place: ResultPlace) => string;
  readonly documentation: (division: SubmissionDivision, submitter: string) => string;
  readonly system: (division: SubmissionDivision, submitter: string, system: string) => string;
  /** Folder of the sources. */
  readonly code: (division: SubmissionDivision, submitter: string) => string;
  /** @param run From 1; Server of round v0.5 has five. */
  readonly performance: (place: ResultPlace, run?: number) => string;
  readonly accuracy: (place: ResultPlace) => string;
  /** @param implementation Id of the implementation, part of the name in the older layout. */
  readonly measurementsFile: (place: ResultPlace, implementation: string) => string;
  /** Folder of a compliance test: verify_*.txt, performance/run_1, accuracy. */
  readonly compliance: (place: ResultPlace, test: string) => string;
  /**
   * Folder of longhaul's files on a run that no official tool reads: network_audit.json,
   * longhaul_run.yaml.
   */
  readonly evidence: (resultPlace: ResultPlace, run: string) => string;
}

/** The error for a folder that is not a submission tree, with a hint if it is a division. */
export function noTree(folder: string): MlperfError {
  const isDivision = SUBMISSION_DIVISIONS.some((name) => name === basename(resolve(folder)));
  const hint = isDivision ? ' (you named a division: name its parent)' : '';
  const wanted = SUBMISSION_DIVISIONS.join('/, ');
  return new MlperfError(
    'ERR_CONFIG_FILE',
    `${folder} is no submission tree: it has no ${wanted}/${hint}`,
  );
}
