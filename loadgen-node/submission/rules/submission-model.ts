import { SCENARIOS, type Scenario } from '../../../shared/domain/scenario.ts';
import type { NetworkAudit } from '../../observe/audit/network-audit.ts';
import type { SubmissionRound, Suite, TestId } from './submission-rounds.ts';

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

/** Name of a scenario in LoadGen's settings and logs. */
export function loadgenScenario(scenario: SubmissionScenario): Scenario {
  return scenario === 'Interactive' ? 'Server' : scenario;
}

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
  /** LoadGen's keys of what is the result, where they are not the usual ones. */
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
  /** Demands that only round v0.5 has. */
  readonly v05?: V05Demands;
}

/** Further demands of round v0.5 on a model's runs, by scenario. */
interface V05Demands {
  readonly minQueries: Readonly<Record<Scenario, number>>;
  /** Of the latency that is reported (SingleStream) or bounded (MultiStream, Server), 0 to 1; Offline: 0. */
  readonly percentiles: Readonly<Record<Scenario, number>>;
  /** MultiStream: from one query to the next. */
  readonly intervalNs: number;
}

/**
 * Percent by which the two accuracies of TEST01's fallback may differ, where the model has no other
 * figure.
 * Source: submission checkers of all rounds (1, 0.1 for models of 99.9 %).
 */
export function usualBaselinePercent(model: SubmissionModel | undefined): number {
  return model?.name.includes('99.9') === true ? 0.1 : 1;
}

/** The model with what is other in a scenario. */
export function modelInScenario(model: SubmissionModel, scenario: SubmissionScenario) {
  return { ...model, ...model.inScenario?.[scenario] };
}

/**
 * Scenarios of a model that a system of these suites has to show; undefined: it is in none of them.
 */
export function scenarioNeed(model: SubmissionModel, suites: readonly Suite[]) {
  if (model.everySystem !== undefined) return model.everySystem;
  if (suites.length > 1 && model.bothSuites !== undefined) return model.bothSuites;
  const needs = suites.flatMap((suite) => model.scenarios[suite] ?? []);
  if (needs.length === 0) return undefined;
  return {
    required: [...new Set(needs.flatMap(({ required }) => required))],
    oneOf: [...new Set(needs.flatMap(({ oneOf }) => oneOf))],
  };
}

/**
 * Values of a model in a row or from a round on. `undefined` takes back an earlier round's value.
 */
type Said = {
  readonly [Key in keyof SubmissionModel]?: SubmissionModel[Key] | undefined;
} & {
  /** Performance samples, data set and Offline query; a number of their own goes before it. */
  readonly samples?: number;
  /** Accuracy of the reference model, by metric. */
  readonly references?: Readonly<Record<string, number>>;
  /** Share of the references that is requested; absent: 0.99. */
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
  /** Values that change from a round on. */
  readonly since?: Partial<Readonly<Record<SubmissionRound, Said>>>;
};

/** Fewest samples of an Offline query of any model, up to v3.1. */
export const OFFLINE_TO_V31 = 24_576;

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

/** Any of the four, in a round that leaves the choice to the submitter. */
export const ANY_OF_FOUR: ScenarioNeed = { required: [], oneOf: SCENARIOS };

/** `NAME-99` and `NAME-99.9`, which differ in the share of the references. */
export function pair(row: ModelRow): [ModelRow, ModelRow] {
  const { name } = row;
  return [
    { benchmark: name, ...row, name: `${name}-99` },
    { benchmark: name, ...row, name: `${name}-99.9`, share: 0.999 },
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

/** LoadGen's keys of what a scenario is measured by, in samples (streams: ns). */
const SAMPLES: Readonly<Record<SubmissionScenario, string>> = {
  SingleStream: 'early_stopping_latency_ss',
  MultiStream: 'early_stopping_latency_ms',
  Server: 'result_completed_samples_per_sec',
  Interactive: 'result_completed_samples_per_sec',
  Offline: 'result_samples_per_second',
};

/**
 * The same of round v0.5, which had no early stopping: latency at the 90th percentile, streams, the Poisson parameter.
 * Source: paper of the round, section 4.5 and table 2.
 */
const V05_METRICS: Readonly<Record<Scenario, string>> = {
  SingleStream: 'result_90.00_percentile_latency_ns',
  MultiStream: 'effective_samples_per_query',
  Server: 'result_scheduled_samples_per_sec',
  Offline: 'result_samples_per_second',
};

const TOKENS = {
  counted: { Server: 'result_completed_tokens_per_second', Offline: 'result_tokens_per_second' },
  inferred: {
    Server: 'result_inferred_completed_tokens_per_second',
    Offline: 'result_inferred_tokens_per_second',
  },
} as const;

/**
 * Key of the detail log whose value is the result. The rules' text calls the scheduled rate the
 * metric of Server, and the checkers up to v4.0 report it; every one since v4.1 reports the completed one.
 */
export function resultMetric(model: SubmissionModel | undefined, scenario: SubmissionScenario) {
  const own = model?.metrics?.[scenario];
  if (own !== undefined) return own;
  if (model?.v05 !== undefined && scenario !== 'Interactive') return V05_METRICS[scenario];
  if (model?.tokenMetric === undefined) return SAMPLES[scenario];
  if (scenario.endsWith('Stream')) return SAMPLES[scenario];
  const keys = TOKENS[model.tokenMetric];
  return scenario === 'Offline' ? keys.Offline : keys.Server;
}

/** The metric in samples, of a model in tokens as well. */
export function sampleMetric(model: SubmissionModel | undefined, scenario: SubmissionScenario) {
  if (model?.v05 !== undefined) return resultMetric(model, scenario);
  return model?.metrics?.[scenario] ?? SAMPLES[scenario];
}

/**
 * The record that a result is computed from, and how: as it is, unless the result is inferred.
 * @param model Undefined: not known, counted in samples.
 * @param measured Scenario of the log.
 */
export function metricOf(
  model: SubmissionModel | undefined,
  scenario: SubmissionScenario,
  measured: SubmissionScenario,
): InferredFigure {
  const asItIs = { key: resultMetric(model, scenario), resultOf: (value: number) => value };
  return inferredFigure(scenario, measured) ?? asItIs;
}

/**
 * Key of the rate in samples per second that the compliance tests compare; undefined in streams.
 */
export function sampleRateKey(scenario: SubmissionScenario): string | undefined {
  return scenario === 'SingleStream' || scenario === 'MultiStream' ? undefined : SAMPLES[scenario];
}

/** A record of the measured scenario's log, and the result that it makes, in LoadGen's unit. */
interface InferredFigure {
  readonly key: string;
  readonly resultOf: (value: number) => number;
}

/** Samples of a query of MultiStream. */
const STREAMS = 8;

/**
 * Scenarios that may be inferred, by the measured scenario, as the official checks compute them.
 * Source: inference_rules v4.1, "Benchmarks" (edge submitters).
 */
const FIGURES: Partial<
  Readonly<
    Record<SubmissionScenario, Partial<Readonly<Record<SubmissionScenario, InferredFigure>>>>
  >
> = {
  MultiStream: {
    SingleStream: { key: 'early_stopping_latency_ms', resultOf: (ns) => STREAMS * ns },
  },
  Offline: {
    SingleStream: { key: 'result_qps_without_loadgen_overhead', resultOf: (rate) => rate },
    MultiStream: { key: 'result_mean_query_latency_ns', resultOf: (ns) => (STREAMS * 1e9) / ns },
  },
};

/** How a result is inferred; undefined: it cannot be. */
export function inferredFigure(scenario: SubmissionScenario, measured: SubmissionScenario) {
  return FIGURES[scenario]?.[measured];
}

/**
 * True where a system of these suites may infer a scenario at all: it is of the edge suite, and the
 * datacenter suite, if it is of that as well, does not ask for the same scenario.
 */
export function mayInfer(suites: readonly Suite[], scenario: SubmissionScenario): boolean {
  if (!suites.includes('edge')) return false;
  return scenario === 'MultiStream' || !suites.includes('datacenter');
}

/**
 * Samples and bytes that the QDL counted, all nodes together; undefined without an audit or
 * samples.
 */
export function wireCounts(audit: NetworkAudit | undefined) {
  const ours = (audit?.nodes ?? []).map((node) => node.ours);
  const sum = (key: 'sampleCount' | 'payloadBytes' | 'completedCount' | 'responseBytes'): number =>
    ours.reduce((total, counts) => total + counts[key], 0);
  const samples = sum('sampleCount');
  if (samples === 0) return undefined;
  return {
    samples,
    payloadBytes: sum('payloadBytes'),
    responses: sum('completedCount'),
    responseBytes: sum('responseBytes'),
    /** Share of the samples that the busiest node took, from 0 to 1. */
    largestShare: Math.max(...ours.map(({ sampleCount }) => sampleCount)) / samples,
  };
}
