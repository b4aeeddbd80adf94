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

/** Collects findings of readers and checks. */
export interface FindingSink {
  /** Applies every rule for this kind of facts. */
  check<Kind extends keyof Facts>(kind: Kind, facts: Facts[Kind]): void;
  /**
   * @param id Id of a rule. @param file Relative to the tree. @param seen A whole sentence with
   *   the value.
   */
  add(id: string, file: string, seen: string, line?: number): void;
}

/** A tree, and everything that its readers and checks share. */
export interface CheckContext {
  /** File of a finding if the check names no other one. */
  readonly file: string;
  readonly listing: TreeListing;
  readonly findings: FindingSink;
  readonly round: SubmissionRound;
  /** Round of the logs if it is unknown here: `v2.0`. Seeds are not judged then. */
  readonly otherRound: string | undefined;
  readonly layout: TreeLayout;
  readonly readLog: ReturnType<typeof detailLogs>;
  /** Accuracy logs before truncation; undefined without any. */
  readonly originals: OriginalLogs | undefined;
  /** Truncated logs that were compared with their originals, by path. */
  readonly comparedOriginals: Set<string>;
  /** Results by the hash of their accuracy log; the first result with the hash. */
  readonly accuracyHashes: Map<string, ResultSite>;
}

/** Everything of a submitter in a division. */
export interface SubmitterSite extends CheckContext {
  readonly division: SubmissionDivision;
  readonly submitter: string;
  /** Names of systems with results. */
  readonly systems: readonly string[];
  /** Descriptions by system; undefined if unreadable. */
  readonly descriptions: ReadonlyMap<string, JsonObject | undefined>;
  /** Collected logs of network runs without evidence. */
  readonly unprovedRuns: string[];
  /** model_mapping.json of an open submission. */
  readonly mapping: JsonObject | undefined;
}

/** Results of one system, with its description. */
export interface SystemSite extends SubmitterSite {
  readonly system: string;
  /** Undefined if missing or unreadable. */
  readonly description: JsonObject | undefined;
}

/** Results of a model on a system. */
export interface ModelSite extends SystemSite {
  readonly modelFolder: string;
  /** Undefined: the folder names no model of the round. */
  readonly model: SubmissionModel | undefined;
  /** Undefined: the model is in none of the system's suites. */
  readonly need: ScenarioNeed | undefined;
  /** Scenario by folder name; undefined: the name is not a scenario. */
  readonly scenarios: ReadonlyMap<string, SubmissionScenario | undefined>;
}

/**
 * Folders of one result: a scenario of a model on a system. The model is adjusted to the scenario.
 */
export interface ResultSite extends ModelSite {
  readonly scenario: SubmissionScenario;
  /** Scenario of the logs; differs if the result is inferred. */
  readonly measured: SubmissionScenario;
  /** Place in {@link TreeLayout}; the scenario is spelled as in its folder. */
  readonly place: ResultPlace;
}

/** The detail log of a run: of a result's performance or accuracy run, or of a compliance test. */
export interface RunFacts extends ResultSite {
  readonly log: RunLog;
  readonly test?: TestId | undefined;
}

/** A line of a file, from 1: enough to locate a finding. */
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

/** A figure of accuracy.txt and its position. */
export interface Figure {
  readonly value: number;
  readonly text: string;
  readonly line: number;
}

/** Sample counts of a percentage: correct and total; `good` if the line has it. */
export interface Shares {
  readonly good: number | undefined;
  readonly total: number;
}

/** Parsed accuracy.txt. */
export interface AccuracyText {
  /** Figures by the model's metrics, in their order. */
  readonly figures: readonly (readonly Figure[])[];
  readonly hashLines: readonly { readonly text: string; readonly line: number }[];
  /** Lines that longhaul writes below the result. */
  readonly notes: readonly string[];
  /** True if some line may state an accuracy, in any words. */
  readonly hasWords: boolean;
  /** SHA-256 stated in accuracy.txt; undefined if absent, repeated or malformed. */
  readonly hash: string | undefined;
}

/**
 * Everything read of a result. Logs and audits by `performance`, `accuracy` or the name of a
 * compliance test.
 */
export interface ResultFacts extends ResultSite {
  readonly runs: ReadonlyMap<string, RunLog>;
  /** Empty outside the network division. */
  readonly audits: ReadonlyMap<string, NetworkAudit>;
  readonly notes: readonly string[];
}

/** Kinds of facts for checks, by the names that rules use. */
export interface Facts {
  tree: CheckContext;
  /** A file or a folder; below a division the official tools check its name. */
  path: CheckContext & {
    readonly name: string;
    /** `.` for the root. */
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
  /** The folder with user.conf, README.md and the measurements file. */
  measurements: ResultSite;
  readmeLine: TextLine;
  weights: ResultSite & { readonly weights: JsonObject };
  /** A detail log of any run. */
  log: { readonly file: string; readonly log: RunLog };
  performance: RunFacts;
  accuracy: RunFacts;
  summary: RunFacts & { readonly summary: SummaryLog };
  accuracyText: ResultSite & { readonly text: AccuracyText };
  /** A line of accuracy.txt with a hash. */
  hashLine: TextLine;
  /** A metric of the model, and its figures in accuracy.txt. */
  accuracyTarget: AccuracyTargetFacts & { readonly figures: readonly Figure[] };
  /** A figure of accuracy.txt, with the counts beside a percentage of image classification. */
  accuracyFigure: AccuracyTargetFacts & Figure & { readonly shares: Shares | undefined };
  /** Lines with a hash in TEST01's accuracy.txt. */
  test01Hashes: { readonly file: string; readonly hashLines: readonly string[] };
  test: RunFacts & { readonly performance: RunLog | undefined };
  audit: RunFacts & { readonly audit: NetworkAudit };
  /** A completely read result. */
  read: ResultFacts;
}

/**
 * A finding of a check: a whole sentence with the value, about the facts' file or another place.
 * `advice`: in place of the rule's own.
 */
export type Seen =
  | string
  | {
      readonly file?: string;
      readonly line?: number | undefined;
      readonly text: string;
      readonly advice?: string;
    };

type Found = Seen | false | undefined;

/** Findings of a check, if any. */
export type Answer = Found | readonly Found[];

/** True in divisions that require scenarios, accuracy and compliance tests. */
export function isStrict({ division }: Pick<SubmitterSite, 'division'>): boolean {
  return division !== 'open';
}

/**
 * Folders of a result's performance runs, in order; includes run_1 even if it is missing. Server of
 * round v0.5 has five, other results one.
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

/** Compliance tests that a result requires. */
export function testsOf(site: ResultSite): readonly TestId[] {
  return isStrict(site) ? (site.model?.tests ?? []) : [];
}
