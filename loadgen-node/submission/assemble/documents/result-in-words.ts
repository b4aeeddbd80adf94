import type { SubmissionScenario } from '../../rules/submission-model.ts';
import { numberOf, type SubmittedRun } from '../plan/read-run.ts';
import { fiveFigures } from './five-figures.ts';

/** A number of a result: what it is, and its text with unit. */
type Row = readonly [string, string];

interface Metric {
  readonly record: string;
  readonly title: string;
  readonly unit: string;
  readonly factor?: number;
}

const SCHEDULED: Metric = {
  record: 'result_scheduled_samples_per_sec',
  title: 'Scheduled samples per second (the metric of Server)',
  unit: 'samples/s',
};
const COMPLETED: Metric = {
  record: 'result_completed_samples_per_sec',
  title: 'Completed samples per second (what the official checkers read)',
  unit: 'samples/s',
};
const OFFLINE: Metric = {
  record: 'result_samples_per_second',
  title: 'Samples per second (the metric of Offline)',
  unit: 'samples/s',
};
const latency = (percentile: string, what: string): Metric => ({
  record: `result_${percentile}_percentile_latency_ns`,
  title: `Latency at ${Number(percentile)} %${what}`,
  unit: 'ms',
  factor: 1e-6,
});

const estimate = (record: string, what: string): Metric => ({
  record,
  title: `Latency of ${what}, estimate of early stopping`,
  unit: 'ms',
  factor: 1e-6,
});

/**
 * Metrics of a scenario, the one that is published first.
 * Source: inference_rules v4.1, "Scenarios" and FAQ (Server: scheduled samples per second).
 */
const METRICS: Readonly<Record<SubmissionScenario, readonly Metric[]>> = {
  Server: [SCHEDULED, COMPLETED, latency('99.00', '')],
  Interactive: [SCHEDULED, COMPLETED],
  Offline: [OFFLINE],
  SingleStream: [
    estimate('early_stopping_latency_ss', 'a sample at 90 % (the metric of SingleStream)'),
    latency('90.00', ', measured'),
  ],
  MultiStream: [
    estimate('early_stopping_latency_ms', 'a query at 99 % (the metric of MultiStream)'),
  ],
};

/** The performance of a run, five significant figures. */
export function performanceRows(run: SubmittedRun, scenario: SubmissionScenario): Row[] {
  return METRICS[scenario].flatMap(({ record, title, unit, factor = 1 }): Row[] => {
    const value = numberOf(run, record);
    if (value === undefined) return [];
    return [[title, `${fiveFigures(Number((value * factor).toPrecision(15)))} ${unit}`]];
  });
}

/** Samples per second that the SUT achieved; undefined for a scenario that is measured by its latency. */
export function throughputOf(run: SubmittedRun, scenario: SubmissionScenario): number | undefined {
  const metric = scenario === 'Offline' ? OFFLINE : COMPLETED;
  return numberOf(run, metric.record);
}
