import type { SubmissionScenario } from './submission-model.ts';
import type { Suite } from './submission-rounds.ts';

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
