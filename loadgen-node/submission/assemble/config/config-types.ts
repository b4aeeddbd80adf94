import type { SubmissionScenario } from '../../rules/submission-model.ts';
import type { SubmissionDivision, SubmissionRound } from '../../rules/submission-rounds.ts';
import type { TestId } from '../../rules/test-ids.ts';

/** Ways to provide a software component. Source: submission_rules, "Possible methods to provide Software". */
export const SOFTWARE_METHODS = [
  'included',
  'github',
  'github-pr',
  'binary',
  'private-source',
  'redacted-source',
  'private-binary',
] as const;

/** One of {@link SOFTWARE_METHODS}. */
export type SoftwareMethod = (typeof SOFTWARE_METHODS)[number];

/** A software component of an implementation, as the submitter states it. */
export interface SoftwareEntry {
  readonly name: string;
  readonly version?: string | undefined;
  readonly method: SoftwareMethod;
  /** Commit, tag, pull requests, URL or checksum: what the method identifies the component by. */
  readonly identifier?: string | undefined;
  /** Of a binary: what kind of release it is. */
  readonly release?: 'production' | 'beta' | 'other' | undefined;
}

/** Weights that a model starts from: a file, or where it can be had. */
export interface WeightsEntry {
  readonly file?: string | undefined;
  readonly source?: string | undefined;
  /** Hexadecimal, 64 digits. */
  readonly sha256?: string | undefined;
  /** Of weights that are only pointed at. */
  readonly bytes?: number | undefined;
}

/** A text, in the configuration or in a file of its own. */
export interface TextEntry {
  readonly text?: string | undefined;
  readonly file?: string | undefined;
}

/** Anything between the LoadGen node and the SUT nodes that data passes. */
export interface NetworkComponent {
  readonly id: string;
  readonly kind: 'switch' | 'router' | 'load-balancer' | 'access-point' | 'other';
  readonly name: string;
}

/** A link between two ends: `loadgen`, a component's id, a SUT node's name, or `sut` for each SUT node. */
export interface NetworkLink {
  readonly from: string;
  readonly to: string;
  readonly media: string;
  /** Of one link: `100G`. */
  readonly rate: string;
  /** Links side by side. */
  readonly count: number;
}

/** How the machines are connected, as only the submitter knows it. */
export interface NetworkEntry {
  readonly sut_nodes: readonly string[];
  readonly components: readonly NetworkComponent[];
  readonly links: readonly NetworkLink[];
  readonly notes?: string | undefined;
}

/** A system: its description file and what no machine can be asked for. */
export interface SystemEntry {
  readonly file: string;
  readonly network?: NetworkEntry | undefined;
  /** Way of the data from the NIC to the accelerator. */
  readonly data_path?: string | undefined;
  /** Specification or measurement that shows that the way sustains the bandwidth. */
  readonly data_path_evidence?: string | undefined;
}

/** An implementation: one code for one model. */
export interface ImplementationEntry {
  readonly code: readonly string[];
  readonly scripts: readonly string[];
  readonly run_commands?: string | undefined;
  readonly weights: readonly WeightsEntry[];
  readonly software: readonly SoftwareEntry[];
  readonly calibration: TextEntry;
  readonly starting_weights_filename: string;
  readonly weight_data_types: string;
  readonly weight_transformations: string;
  readonly input_data_types: string;
  readonly retraining: string;
  readonly batching?: string | undefined;
}

/** A result: which runs are that of which scenario. */
export interface ResultEntry {
  readonly divisions: readonly SubmissionDivision[];
  readonly system: string;
  readonly implementation: string;
  /** Folder of the model. */
  readonly model: string;
  /** Open division: the round's model that `model` stands for. */
  readonly reference_model?: string | undefined;
  readonly scenario: SubmissionScenario;
  readonly performance?: string | undefined;
  readonly accuracy?: string | undefined;
  /** Folder that holds TESTnn folders, or one folder per test. */
  readonly compliance?: string | Readonly<Partial<Record<TestId, string>>> | undefined;
  /** Folders of the tests' raw logs, where they are not beside the tests as TESTnn-run. */
  readonly compliance_runs?: Readonly<Partial<Record<TestId, string>>> | undefined;
  /** Scenario of the measured result that this one is inferred from. */
  readonly inferred_from?: SubmissionScenario | undefined;
  readonly user_conf?: string | undefined;
  readonly batching?: string | undefined;
}

/** What stands under `submission:`. */
export interface SubmissionEntry {
  readonly submitter: string;
  readonly round: SubmissionRound;
  readonly systems: Readonly<Record<string, SystemEntry>>;
  readonly implementations: Readonly<Record<string, ImplementationEntry>>;
  readonly results: readonly ResultEntry[];
}
