import { inferredFigure } from './inferred-results.ts';
import type { SubmissionModel, SubmissionScenario } from './submission-model.ts';

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
