import { posix } from 'node:path';
import type {
  AccuracyTarget,
  ScenarioNeed,
  SubmissionModel,
  SubmissionScenario,
  TestId,
} from '../../../../shared/rules/rows/model-row.ts';
import type { SummaryLog } from '../../../loadgen/logs/read/summary-log.ts';
import type { NetworkAudit } from '../../../observe/network-audit.ts';
import type { SubmissionDivision, SubmissionRound } from '../../rules/submission-rounds.ts';
import type { ResultPlace, TreeLayout } from '../../tree/tree-layout.ts';
import type { detailLogs, OriginalLogs, RunLog } from './run-log.ts';
import type { TreeListing } from './tree-listing.ts';

/** A JSON object of a tree. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Where readers and checks put what they find. */
export interface FindingSink {
  /** Checks facts by every rule that looks at facts of their kind. */
  check<Kind extends keyof Facts>(kind: Kind, facts: Facts[Kind]): void;
  /**
   * @param id Of a rule. @param file Relative to the tree. @param seen A whole sentence with the
   * value.
   */
  add(id: string, file: string, seen: string, line?: number): void;
}

/** A tree and all that its readers and checks share. */
export interface CheckContext {
  /** File of a finding whose check names no other one. */
  readonly file: string;
  readonly listing: TreeListing;
  readonly findings: FindingSink;
  readonly round: SubmissionRound;
  /** Round of the logs where it is not known here: `v2.0`. Seeds are not judged then. */
  readonly otherRound: string | undefined;
  readonly layout: TreeLayout;
  readonly readLog: ReturnType<typeof detailLogs>;
  /** Accuracy logs before they were truncated; undefined: none are known. */
  readonly originals: OriginalLogs | undefined;
  /** Truncated logs that were compared with their originals, by path. */
  readonly comparedOriginals: Set<string>;
  /** Results by the hash of their accuracy log, the first one that has it. */
  readonly accuracyHashes: Map<string, ResultSite>;
}

/** All that a submitter has in a division. */
export interface SubmitterSite extends CheckContext {
  readonly division: SubmissionDivision;
  readonly submitter: string;
  /** Names of the systems with results. */
  readonly systems: readonly string[];
  /** Descriptions by system; undefined where one cannot be read. */
  readonly descriptions: ReadonlyMap<string, JsonObject | undefined>;
  /** Logs of network runs without evidence, as they are found. */
  readonly unprovedRuns: string[];
  /** model_mapping.json of an open submission. */
  readonly mapping: JsonObject | undefined;
}

/** Results of one system, with its description. */
export interface SystemSite extends SubmitterSite {
  readonly system: string;
  /** Undefined where there is none that can be read. */
  readonly description: JsonObject | undefined;
}

/** Results of a model on a system. */
export interface ModelSite extends SystemSite {
  readonly modelFolder: string;
  /** Undefined: the folder names no model of the round. */
  readonly model: SubmissionModel | undefined;
  /** Undefined: the model is in no suite of the system. */
  readonly need: ScenarioNeed | undefined;
  /** Scenario of each folder by its name; undefined: the name is no scenario's. */
  readonly scenarios: ReadonlyMap<string, SubmissionScenario | undefined>;
}

/**
 * Folders of one result: a scenario of a model on a system. Its model is the one of the scenario.
 */
export interface ResultSite extends ModelSite {
  readonly scenario: SubmissionScenario;
  /** Scenario of the logs: another one where the result is inferred. */
  readonly measured: SubmissionScenario;
  /** As {@link TreeLayout} wants it; the scenario as its folder spells it. */
  readonly place: ResultPlace;
}

/** The detail log of a run: of a result's performance or accuracy run, or of a compliance test. */
export interface RunFacts extends ResultSite {
  readonly log: RunLog;
  readonly test?: TestId | undefined;
}

/** A line of a file, from 1: a finding about it needs no other place. */
export interface TextLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

export interface AccuracyTargetFacts {
  readonly file: string;
  readonly site: Facts['accuracyText'];
  readonly target: AccuracyTarget;
}

/** A figure of accuracy.txt and where it stands. */
export interface Figure {
  readonly value: number;
  readonly text: string;
  readonly line: number;
}

/**
 * Samples of an accuracy in percent: those that are right, and all; `good` where the line has it.
 */
export interface Shares {
  readonly good: number | undefined;
  readonly total: number;
}

/** accuracy.txt, line by line. */
export interface AccuracyText {
  /** By the model's metrics, in their order. */
  readonly figures: readonly (readonly Figure[])[];
  readonly hashLines: readonly { readonly text: string; readonly line: number }[];
  /** Lines that longhaul writes below the result. */
  readonly notes: readonly string[];
  /** True where there is a line that may tell an accuracy, in whatever words. */
  readonly hasWords: boolean;
  /**
   * SHA-256 of the whole accuracy log, as it stands there; undefined: none, several, or not in its
   * form.
   */
  readonly hash: string | undefined;
}

/**
 * All that was read of a result. Logs and audits by `performance`, `accuracy` or the name of a
 * compliance test.
 */
export interface ResultFacts extends ResultSite {
  readonly runs: ReadonlyMap<string, RunLog>;
  /** Empty outside of the network division. */
  readonly audits: ReadonlyMap<string, NetworkAudit>;
  readonly notes: readonly string[];
}

/** The kinds of facts that checks look at, by the names under which the rules have them. */
export interface Facts {
  tree: CheckContext;
  /** A file or a folder; below a division the official tools look at its name. */
  path: CheckContext & {
    readonly name: string;
    /** `.` in the root. */
    readonly folder: string;
    readonly isFolder: boolean;
    readonly bytes: number;
    readonly isOfDivision: boolean;
  };
  /** A line of a text for people. */
  textLine: TextLine;
  submitter: SubmitterSite;
  description: SystemSite & { readonly description: JsonObject };
  model: ModelSite;
  result: ResultSite;
  /** The folder of user.conf, README.md and the measurements file. */
  measurements: ResultSite;
  readmeLine: TextLine;
  weights: ResultSite & { readonly weights: JsonObject };
  /** A detail log as it was read, whatever run it is of. */
  log: { readonly file: string; readonly log: RunLog };
  performance: RunFacts;
  accuracy: RunFacts;
  summary: RunFacts & { readonly summary: SummaryLog };
  accuracyText: ResultSite & { readonly text: AccuracyText };
  /** A line of accuracy.txt with a hash. */
  hashLine: TextLine;
  /** A metric of the model and its figures in accuracy.txt. */
  accuracyTarget: AccuracyTargetFacts & { readonly figures: readonly Figure[] };
  /** A figure of accuracy.txt, and the counts beside a percentage of image classification. */
  accuracyFigure: AccuracyTargetFacts & Figure & { readonly shares: Shares | undefined };
  /** Lines with a hash in the accuracy.txt of TEST01. */
  test01Hashes: { readonly file: string; readonly hashLines: readonly string[] };
  test: RunFacts & { readonly performance: RunLog | undefined };
  audit: RunFacts & { readonly audit: NetworkAudit };
  /** A result of which all was read. */
  read: ResultFacts;
}

/**
 * A finding of a check: a whole sentence with the value, about the file of its facts or about
 * another place.
 */
export type Seen =
  | string
  | { readonly file?: string; readonly line?: number | undefined; readonly text: string };

type Found = Seen | false | undefined;

/** Findings of a check, if any. */
export type Answer = Found | readonly Found[];

/** True in the divisions in which scenarios, accuracy and compliance tests are demanded. */
export function isStrict({ division }: Pick<SubmitterSite, 'division'>): boolean {
  return division !== 'open';
}

/**
 * Folders of a result's performance runs, in their order; run_1 also where it is missing. Server of round v0.5 has five,
 * every other result one.
 */
export function performanceRuns({ layout, listing, place, round, scenario }: ResultSite) {
  const first = layout.performance(place);
  if (round !== 'v0.5' || scenario !== 'Server') return [first];
  const folder = posix.dirname(first);
  const names = listing.entries(folder).folders.filter((name) => /^run_[1-9]\d*$/.test(name));
  const all = new Set([first, ...names.map((name) => posix.join(folder, name))]);
  return [...all].sort((a, b) => a.length - b.length || Number(a > b) - Number(a < b));
}

/** Folder of a submitter's results. */
export function resultsFolder(division: SubmissionDivision, submitter: string): string {
  return posix.join(division, submitter, 'results');
}

/** Compliance tests that a result has to have. */
export function testsOf(site: ResultSite): readonly TestId[] {
  return isStrict(site) ? (site.model?.tests ?? []) : [];
}
