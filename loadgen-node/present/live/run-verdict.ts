import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import { formatNs } from '../../../shared/base/text/duration.ts';
import type { PerformanceOutcome, TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { RunState, RunVerdict } from './live-messages.ts';

/** Reasons that are told; a run that is broken in every sample has one of them anyway. */
const REASONS_MAX = 20;
const SHOWN_PERCENTILES: readonly number[] = [0.5, 0.9, 0.99, 0.999];

/** The result of a run for the live page: its exact figures, not the estimates that were shown while it went on. */
export function runVerdict(outcome: TestOutcome): RunVerdict {
  const { longhaul } = outcome.verdicts;
  const state: RunState = longhaul.isValid ? 'VALID' : 'INVALID';
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

function figuresOf({ summary, counts, dispatchLag }: PerformanceOutcome): RunVerdict['figures'] {
  const figures: { label: string; value: string }[] = [];
  const add = (label: string, value: string): void => {
    figures.push({ label, value });
  };
  const { scheduled, completed, withOverhead } = summary.rates;
  // A rate that its scenario does not know is 0.
  if (scheduled > 0) add('Samples per second, scheduled', rate(scheduled));
  if (completed > 0) add('Samples per second, completed', rate(completed));
  if (withOverhead > 0) add('Queries per second', rate(withOverhead));
  const latency = summary.queryLatency ?? summary.sampleLatency;
  for (const { percentile, valueNs } of latency.percentiles) {
    if (!SHOWN_PERCENTILES.includes(percentile)) continue;
    add(`Latency p${Number((percentile * 100).toFixed(3))}`, formatNs(valueNs));
  }
  add('Latency max', formatNs(latency.maxNs));
  if (summary.scenario === 'Server') add('Dispatch lag max', formatNs(dispatchLag.maxNs));
  add('Queries', String(counts.issuedQueries));
  add('Lost samples', String(counts.lostSamples));
  return figures;
}

/** A run with one query has no length of time to count in. */
function rate(perSecond: number): string {
  return Number.isFinite(perSecond) ? perSecond.toFixed(2) : '-';
}
