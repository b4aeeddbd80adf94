import type { Scenario } from '../../../shared/domain/scenario.ts';
import type {
  SubmissionModel,
  SubmissionScenario,
  Suite,
} from '../../../shared/rules/rows/model-row.ts';
import type { NetworkAudit } from '../../observe/network-audit.ts';

/** Name of a scenario in LoadGen's settings and logs. */
export function loadgenScenario(scenario: SubmissionScenario): Scenario {
  return scenario === 'Interactive' ? 'Server' : scenario;
}

/**
 * Percent by which TEST01's two fallback accuracies may differ, unless the model has its own
 * figure. Source: submission checkers of all rounds (1, 0.1 for 99.9 % models).
 */
export function usualBaselinePercent(model: SubmissionModel | undefined): number {
  return model?.name.includes('99.9') === true ? 0.1 : 1;
}

/** The model with its values for a scenario. */
export function modelInScenario(
  model: SubmissionModel,
  scenario: SubmissionScenario,
): SubmissionModel {
  return { ...model, ...model.inScenario?.[scenario] };
}

/**
 * Required scenarios of a model on a system of these suites; undefined if it is in none of them.
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

/** LoadGen's key of a scenario's metric, in samples (SingleStream and MultiStream: ns). */
const SAMPLES: Readonly<Record<SubmissionScenario, string>> = {
  SingleStream: 'early_stopping_latency_ss',
  MultiStream: 'early_stopping_latency_ms',
  Server: 'result_completed_samples_per_sec',
  Interactive: 'result_completed_samples_per_sec',
  Offline: 'result_samples_per_second',
};

/**
 * Metrics of round v0.5, which had no early stopping: latency at the 90th percentile, streams, the
 * Poisson parameter. Source: paper of the round, section 4.5 and table 2.
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
 * Detail log key of the result. The rules' text calls the scheduled rate the metric of Server, and
 * checkers up to v4.0 report it; from v4.1 on they report the completed one.
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

/** The metric in samples, also for models measured in tokens. */
export function sampleMetric(model: SubmissionModel | undefined, scenario: SubmissionScenario) {
  if (model?.v05 !== undefined) return resultMetric(model, scenario);
  return model?.metrics?.[scenario] ?? SAMPLES[scenario];
}

/**
 * The record that a result is computed from, and the computation: unchanged, unless the result is
 * inferred.
 * @param model Undefined: unknown, counted in samples.
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
 * Key of the rate (samples per second) that compliance tests compare; undefined for SingleStream
 * and MultiStream.
 */
export function sampleRateKey(scenario: SubmissionScenario): string | undefined {
  return scenario === 'SingleStream' || scenario === 'MultiStream' ? undefined : SAMPLES[scenario];
}

/** A record in the measured scenario's log, and the inferred result, in LoadGen's unit. */
interface InferredFigure {
  readonly key: string;
  readonly resultOf: (value: number) => number;
}

/** Samples per query of MultiStream. */
const STREAMS = 8;

/**
 * Scenarios that may be inferred, by measured scenario, as computed by the official checks. Source:
 * inference_rules v4.1, "Benchmarks" (edge submitters).
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

/** How to infer a result; undefined if it is not possible. */
export function inferredFigure(scenario: SubmissionScenario, measured: SubmissionScenario) {
  return FIGURES[scenario]?.[measured];
}

/**
 * True if a system may infer a scenario's result. Edge systems may; a system in both suites may not
 * infer a scenario that datacenter requires.
 */
export function mayInfer(suites: readonly Suite[], scenario: SubmissionScenario): boolean {
  if (!suites.includes('edge')) return false;
  return scenario === 'MultiStream' || !suites.includes('datacenter');
}

/** Samples and bytes counted by the QDL over all nodes; undefined without an audit or samples. */
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
    /** Share of the samples taken by the busiest node, 0 to 1. */
    largestShare: Math.max(...ours.map(({ sampleCount }) => sampleCount)) / samples,
  };
}
