import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import { formatNs } from '../../../shared/base/text/duration.ts';
import type { PerformanceOutcome, TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { LatencyPercentile } from '../../observe/figures/figure-names.ts';
import { figuresOfOutcome } from '../../observe/figures/figures-of-outcome.ts';
import type { RunEndState, RunVerdict } from './live-messages.ts';

/** Reasons that are told; a run that is broken in every sample has one of them anyway. */
const REASONS_MAX = 20;
const SHOWN_PERCENTILES: readonly LatencyPercentile[] = ['p50', 'p90', 'p99', 'p99.9'];

/** The result of a run for the live page: its exact figures, not the estimates that were shown while it went on. */
export function runVerdict(outcome: TestOutcome): RunVerdict {
  const { longhaul } = outcome.verdicts;
  const state: RunEndState = longhaul.isValid ? 'VALID' : 'INVALID';
  return {
    state: outcome.isInterrupted ? 'INTERRUPTED' : state,
    reasons: longhaul.reasons.slice(0, REASONS_MAX).map(({ text }) => text),
    figures: outcome.performance === null ? [] : figuresOf(outcome.performance),
  };
}

/** A run that ended without a result. */
export function brokenVerdict(error: unknown): RunVerdict {
  return { state: 'BROKEN', reasons: [messageOf(error)], figures: [] };
}

function figuresOf(performance: PerformanceOutcome): RunVerdict['figures'] {
  const { scenario } = performance.summary;
  const figures = figuresOfOutcome(performance);
  const shown: { label: string; value: string }[] = [];
  const add = (label: string, value: number | undefined, text: (value: number) => string): void => {
    if (value !== undefined) shown.push({ label, value: text(value) });
  };
  const isStream = scenario === 'SingleStream' || scenario === 'MultiStream';
  add('Samples per second, scheduled', above0(figures.scheduled_qps), rate);
  if (!isStream) add('Samples per second, completed', above0(figures.completed_qps), rate);
  if (scenario === 'SingleStream') add('Queries per second', above0(figures.completed_qps), rate);
  for (const name of SHOWN_PERCENTILES) add(`Latency ${name}`, figures[name], formatNs);
  add('Latency max', figures.max, formatNs);
  if (scenario === 'Server') add('Dispatch lag max', figures.lag_max, formatNs);
  add('Queries', figures.queries, String);
  add('Lost samples', figures.lost, String);
  return shown;
}

/** A run with one query has no length of time to count in. */
function above0(perSecond: number | undefined): number | undefined {
  return perSecond !== undefined && perSecond > 0 ? perSecond : undefined;
}

function rate(perSecond: number): string {
  return perSecond.toFixed(2);
}
