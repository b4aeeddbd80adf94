import { posix } from 'node:path';
import { modelOfResultFolder } from '../../rules/models-of-rounds.ts';
import {
  SUBMISSION_SCENARIOS,
  type SubmissionModel,
  type SubmissionScenario,
} from '../../rules/submission-model.ts';
import {
  SUBMISSION_DIVISIONS,
  type SubmissionDivision,
  type SubmissionRound,
} from '../../rules/submission-rounds.ts';
import type { ResultPlace, TreeLayout } from '../../tree/tree-layout.ts';
import type { JsonObject } from './description-values.ts';
import type { TreeListing } from './tree-listing.ts';

/** Results of one system, with its description. */
export interface SystemSite {
  readonly division: SubmissionDivision;
  readonly submitter: string;
  readonly system: string;
  /** Undefined where there is none that can be read. */
  readonly description: JsonObject | undefined;
}

/** Folders of one result: a scenario of a model on a system. */
export interface ResultSite extends SystemSite {
  readonly modelFolder: string;
  /** Undefined: the folder names no model of the round. */
  readonly model: SubmissionModel | undefined;
  readonly scenario: SubmissionScenario;
  /** Scenario of the logs: another one where the result is inferred. */
  readonly measured: SubmissionScenario;
  /** As {@link TreeLayout} wants it; the scenario as its folder spells it. */
  readonly place: ResultPlace;
}

/** True in the divisions in which scenarios, accuracy and compliance tests are demanded. */
export function isStrict({ division }: Pick<SystemSite, 'division'>): boolean {
  return division !== 'open';
}

/** Every submitter of a tree that has a folder. */
export function submittersOf(
  listing: TreeListing,
): { division: SubmissionDivision; submitter: string }[] {
  return SUBMISSION_DIVISIONS.flatMap((division) =>
    listing.entries(division).folders.map((submitter) => ({ division, submitter })),
  );
}

/** Folder of a submitter's results. */
export function resultsFolder(division: SubmissionDivision, submitter: string): string {
  return posix.join(division, submitter, 'results');
}

/** The scenario that a folder is named after, in whatever case, as the official tools have it. */
export function scenarioOfFolder(name: string): SubmissionScenario | undefined {
  return SUBMISSION_SCENARIOS.find((scenario) => scenario.toLowerCase() === name.toLowerCase());
}

/** The model of a result's folder; in open the submitter's model_mapping.json may say which. */
export function modelOfResult(
  round: SubmissionRound,
  division: SubmissionDivision,
  folder: string,
  mapping: JsonObject | undefined,
): SubmissionModel | undefined {
  return modelOfResultFolder(round, folder, division === 'open' ? mapping?.[folder] : undefined);
}

/** Folder of a run of a result: of the result itself, or of a compliance test. */
export function runFolder(layout: TreeLayout, { place }: ResultSite, run: string): string {
  if (run === 'performance') return layout.performance(place);
  if (run === 'accuracy') return layout.accuracy(place);
  return posix.join(layout.compliance(place, run), 'performance', 'run_1');
}
