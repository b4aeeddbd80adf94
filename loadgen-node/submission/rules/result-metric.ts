import type { SubmissionModel, SubmissionScenario } from './submission-model.ts';
import type { Suite } from './submission-rounds.ts';

/** LoadGen's keys of what a scenario is measured by, in samples (streams: ns). */
const SAMPLES: Readonly<Record<SubmissionScenario, string>> = {
  SingleStream: 'early_stopping_latency_ss',
  MultiStream: 'early_stopping_latency_ms',
  Server: 'result_completed_samples_per_sec',
  Interactive: 'result_completed_samples_per_sec',
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
 * Key of the detail log whose value is the result. The rules' text calls the scheduled rate the metric of Server; every
 * checker since v4.1 reports the completed one.
 */
export function resultMetric(
  model: SubmissionModel | undefined,
  scenario: SubmissionScenario,
): string {
  if (model?.tokenMetric === undefined) return SAMPLES[scenario];
  if (scenario === 'SingleStream') return 'result_90.00_percentile_latency_ns';
  const keys = TOKENS[model.tokenMetric];
  return scenario === 'Offline' ? keys.Offline : keys.Server;
}

/**
 * {@link resultMetric}, or what an inferred result is computed from. @param model Undefined: not known, counted in samples.
 * @param measured Scenario of the log.
 */
export function metricOf(
  model: SubmissionModel | undefined,
  scenario: SubmissionScenario,
  measured: SubmissionScenario,
): string {
  return inferredFigure(scenario, measured) ?? resultMetric(model, scenario);
}

/**
 * Key of the rate in samples per second that the compliance tests compare; undefined in streams.
 */
export function sampleRateKey(scenario: SubmissionScenario): string | undefined {
  return scenario === 'SingleStream' || scenario === 'MultiStream' ? undefined : SAMPLES[scenario];
}

/**
 * What may be inferred from which measured scenario, and the record of that one's log from which the official checkers
 * compute it: 8 times the 99th percentile of SingleStream, queries per second of SingleStream, 8000 divided by the mean
 * latency of MultiStream in ms. Source: inference_rules v4.1, "Benchmarks" (edge submitters).
 */
const FIGURES: Partial<
  Readonly<Record<SubmissionScenario, Partial<Readonly<Record<SubmissionScenario, string>>>>>
> = {
  MultiStream: { SingleStream: 'early_stopping_latency_ms' },
  Offline: {
    SingleStream: 'result_qps_without_loadgen_overhead',
    MultiStream: 'result_mean_query_latency_ns',
  },
};

/**
 * Key of the measured scenario's log that an inferred result is computed from; undefined: it cannot
 * be inferred.
 */
export function inferredFigure(
  scenario: SubmissionScenario,
  measured: SubmissionScenario,
): string | undefined {
  return FIGURES[scenario]?.[measured];
}

/**
 * True where a system of these suites may infer a scenario at all: it is of the edge suite, and the datacenter suite, if
 * it is of that as well, does not ask for the same scenario.
 */
export function mayInfer(suites: readonly Suite[], scenario: SubmissionScenario): boolean {
  if (!suites.includes('edge')) return false;
  return scenario === 'MultiStream' || !suites.includes('datacenter');
}
