import { SCENARIOS, type Scenario } from '../../domain/scenario.ts';
import { KNOWN_ROUNDS, type KnownRound, numberOfRound } from '../rounds/rounds.ts';

/** Suites of a system; the Network division has only the first one. */
export const SUITES = ['datacenter', 'edge'] as const;

/** One of {@link SUITES}. */
export type Suite = (typeof SUITES)[number];

/** Compliance tests that longhaul runs and verifies. */
export const TEST_IDS = ['TEST01', 'TEST04', 'TEST05', 'TEST06'] as const;

/**
 * Tests of later rounds' models. longhaul does not run their benchmarks, but verifies existing runs
 * of them.
 */
export const GIVEN_TEST_IDS = ['TEST07', 'TEST08', 'TEST09'] as const;

/** One of {@link TEST_IDS}. */
export type RunnableTestId = (typeof TEST_IDS)[number];

/** One of {@link TEST_IDS} or {@link GIVEN_TEST_IDS}. */
export type TestId = RunnableTestId | (typeof GIVEN_TEST_IDS)[number];

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
  /** Smallest accepted value; undefined: no lower limit. */
  readonly lower?: number;
  /** Largest accepted value; undefined: no upper limit. */
  readonly upper?: number;
}

/** Scenarios that a suite asks for. */
export interface ScenarioNeed {
  readonly required: readonly SubmissionScenario[];
  /** At least one of these scenarios is required as well; empty: none is. */
  readonly oneOf: readonly SubmissionScenario[];
}

/**
 * Bounds on p99 of the time to first token and of the time per output token, in ns; the measured
 * values must be below.
 */
interface TokenLatencies {
  readonly ttftNs: number;
  readonly tpotNs: number;
}

/** Demands of a round on a result of one model. Counts in samples, times in ns. */
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
   * Scenarios of a system of both suites, where the official tables have more than the two suites
   * together.
   */
  readonly bothSuites?: ScenarioNeed;
  /** Scenarios of any system, in a round without suites. */
  readonly everySystem?: ScenarioNeed;
  readonly performanceSamples: number;
  readonly dataSetSamples: number;
  /** Samples of an accuracy run, where they are not the whole data set. */
  readonly accuracySamples?: number;
  /** Fewest samples of an Offline query. */
  readonly offlineSamples: number;
  /**
   * Largest latency bound of a Server run (a setting, not what was measured); absent: not
   * checked.
   */
  readonly serverLatencyNs?: number;
  readonly tokenLatencies?: Partial<Readonly<Record<SubmissionScenario, TokenLatencies>>>;
  readonly accuracy: readonly AccuracyTarget[];
  /** Values that differ in one scenario. */
  readonly inScenario?: Partial<
    Readonly<
      Record<
        SubmissionScenario,
        Partial<Pick<SubmissionModel, 'accuracy' | 'accuracySamples' | 'serverLatencyNs'>>
      >
    >
  >;
  /** LoadGen's keys of the result, by scenario; absent: the usual keys. */
  readonly metrics?: Partial<Readonly<Record<SubmissionScenario, string>>>;
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
  /** True if the checker of v4.1 itself looks for this setting, only in the files of settings. */
  readonly isEqualIssueInConf?: boolean;
  /** Demands that only round v0.5 has. */
  readonly v05?: V05Demands;
}

/** Further demands of round v0.5 on a model's runs, by scenario. */
interface V05Demands {
  readonly minQueries: Readonly<Record<Scenario, number>>;
  /**
   * Percentile of the latency that is reported (SingleStream) or bounded (MultiStream, Server),
   * 0 to 1; Offline: 0.
   */
  readonly percentiles: Readonly<Record<Scenario, number>>;
  /** MultiStream: time from one query to the next. */
  readonly intervalNs: number;
}

/**
 * Values of a model in a row or from a round on. `undefined` takes back an earlier round's value.
 */
type Said = {
  readonly [Key in keyof SubmissionModel]?: SubmissionModel[Key] | undefined;
} & {
  /** Number of performance samples, of the data set and of the Offline query, unless given. */
  readonly samples?: number;
  /** Accuracy of the reference model, by metric. */
  readonly references?: Readonly<Record<string, number>>;
  /** Required share of the reference accuracies; absent: 0.99. */
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
  readonly rounds: readonly [first: KnownRound, last: KnownRound];
  /** Values that change from a round on. */
  readonly since?: Partial<Readonly<Record<KnownRound, Said>>>;
};

/** Fewest samples of an Offline query of any model, up to v3.1. */
export const OFFLINE_TO_V31 = 24_576;

function requires(...required: readonly SubmissionScenario[]): ScenarioNeed {
  return { required, oneOf: [] };
}

export const SERVER_OFFLINE: ScenarioNeed = requires('Server', 'Offline');
export const OFFLINE: ScenarioNeed = requires('Offline');
export const SINGLE: ScenarioNeed = requires('SingleStream');
export const SINGLE_OFFLINE: ScenarioNeed = requires('SingleStream', 'Offline');
export const SINGLE_MULTI_OFFLINE: ScenarioNeed = requires(
  'SingleStream',
  'MultiStream',
  'Offline',
);
export const SINGLE_SERVER_OFFLINE: ScenarioNeed = requires('SingleStream', 'Server', 'Offline');
/** In later rounds: Offline, and one of two scenarios with a latency bound. */
export const OFFLINE_AND_ONE: ScenarioNeed = {
  required: ['Offline'],
  oneOf: ['Interactive', 'Server'],
};

/**
 * `NAME-99` and `NAME-99.9`, which differ in the share of the references.
 * @param loose Further values of the first one.
 * @param strict Further values of the second one.
 */
export function pair(
  row: ModelRow,
  loose: Partial<ModelRow> = {},
  strict: Partial<ModelRow> = {},
): [ModelRow, ModelRow] {
  const { name } = row;
  return [
    { benchmark: name, ...row, ...loose, name: `${name}-99` },
    { benchmark: name, ...row, ...strict, name: `${name}-99.9`, share: 0.999 },
  ];
}

/** A target around a reference: at least 90 % and at most 110 % of it. */
export function within10Percent(metric: string, reference: number, upper = reference) {
  return { metric, lower: reference * 0.9, upper: upper * 1.1 };
}

export function tokens(ttftMs: number, tpotMs: number): TokenLatencies {
  return { ttftNs: ttftMs * 1e6, tpotNs: tpotMs * 1e6 };
}

/** Numbers of the pictures or videos that a result shows. */
export function shown(folder: 'images' | 'videos', ids: string) {
  return { accuracyFiles: { folder, ids: ids.split(' ') } };
}

/**
 * The values of a model in a round; undefined if the round does not have the model.
 */
export function rowAt({ rounds, since = {}, ...first }: ModelRow, round: KnownRound) {
  const [begin = 0, end = 0] = rounds.map((one) => KNOWN_ROUNDS.indexOf(one));
  const at = KNOWN_ROUNDS.indexOf(round);
  if (at < begin || at > end) return undefined;
  const changes = KNOWN_ROUNDS.slice(0, at + 1).map((one) => since[one]);
  const row: typeof first = Object.assign({}, first, ...changes);
  return row;
}

function byScenario(of: (scenario: Scenario) => number): Readonly<Record<Scenario, number>> {
  const values = SCENARIOS.map((scenario) => [scenario, of(scenario)]);
  return Object.fromEntries(values) as Record<Scenario, number>;
}

/**
 * A model of round v0.5, under the name of its folder in the round's submissions. A submission may
 * have it in any of the four scenarios. Source: paper of the round, sections 4.3 to 4.6 and 5.1;
 * names: mlcommons/inference, branch r0.5, tools/submission.
 * @param samples Samples of the accuracy run.
 */
export function v05Row(
  folder: string,
  benchmark: string,
  samples: number,
  quality: Pick<ModelRow, 'references' | 'share' | 'bounds'>,
): ModelRow {
  // The value is in the file's unit, and 0 if the file has none for the scenario.
  const value = (scenario: Scenario | '*', key: string) => {
    const ofAll = numberOfRound('v0.5', `*.${scenario}.${key}`);
    return numberOfRound('v0.5', `${benchmark}.${scenario}.${key}`) ?? ofAll ?? 0;
  };
  return {
    name: folder,
    benchmark,
    dataSetSamples: samples,
    tests: [],
    ...quality,
    rounds: ['v0.5', 'v0.5'],
    scenarios: {},
    everySystem: { required: [], oneOf: SCENARIOS },
    performanceSamples: value('*', 'performance_sample_count_override'),
    offlineSamples: value('Offline', 'min_query_count'),
    serverLatencyNs: value('Server', 'target_latency') * 1e6,
    v05: {
      // An Offline run is one query, of which the file has the samples.
      minQueries: { ...byScenario((scenario) => value(scenario, 'min_query_count')), Offline: 1 },
      percentiles: byScenario((scenario) => value(scenario, 'target_latency_percentile') / 100),
      intervalNs: value('MultiStream', 'target_latency') * 1e6,
    },
  };
}
